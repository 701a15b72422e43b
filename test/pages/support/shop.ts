/** A shop of express whose goods are of every kind that a browser treats in its own way. */
import type { AddressInfo } from 'node:net'
import { createSvcScheme, type PaywallLook, sellOnExpress, svcPaywall } from '@svc-zerc20/resource-server'
import { paymentMiddleware, paymentMiddlewareFromHTTPServer, x402ResourceServer } from '@x402/express'
import express from 'express'
import { type Interop, network } from '../../interop/support/network.js'

/** Strings that would run, if a page took them for markup. */
export const hostile = `"><img src=x onerror=pwned=1></title></script><script>pwned=1</script>'\${pwned=1}`

const page = `<!doctype html><html lang="en"><title>Bought page</title><style>h1{color:rgb(1,2,3)}</style>
<h1>The whole story</h1><script>document.title += ', running'</script></html>`

export type PageShop = Awaited<ReturnType<typeof openPageShop>>

export async function openPageShop({ proxy, token }: Interop, look: PaywallLook = {}) {
  const svc = createSvcScheme({
    facilitatorUrl: proxy.url,
    network,
    token,
    secret: 'a secret of 32 bytes for a shop of pages',
    // What goes wrong reaches the page at once.
    limits: { recoveryPausesMs: [], verifyPausesMs: [] },
  })
  const paid = sellOnExpress(svc, paymentMiddlewareFromHTTPServer, {
    clientLimits: 'unlimited',
    paywall: { name: 'Example Weather', token: { symbol: 'zUSD', decimals: 6 }, ...look },
  })
  let served = 0
  let price = '10000'
  const app = express()
  const sell = (path: string, answer: express.RequestHandler, description = 'Tomorrow, hour by hour') =>
    app.get(path, paid({ price: () => price, description }), (request, response, next) => {
      served += 1
      return answer(request, response, next)
    })
  sell('/json', (_, response) => response.json({ report: 'sunny', degrees: 21 }))
  sell('/page', (_, response) => response.type('html').send(page))
  sell('/story/*name', (_, response) => response.type('html').send(page))
  sell('/file', (_, response) => response.attachment('weather.csv').send('hour,degrees\n12,21\n'))
  sell('/moved', (_, response) => response.redirect('/free'))
  sell('/hostile', (_, response) => response.json({ [hostile]: hostile }), hostile)
  // The official route table, which knows neither answer keys nor our words.
  const server = new x402ResourceServer(svc.facilitatorClient).register(network, svc)
  const accepts = svc.accept({ price: '10000' })
  const table = { '/table': { accepts, description: 'By the table' }, '/table-page': { accepts } }
  app.use(paymentMiddleware(table, server, { appName: 'Example Table' }, svcPaywall()))
  app.get('/table', (_, response) => response.json({ report: 'cloudy' }))
  app.get('/table-page', (_, response) => response.type('html').send(page))
  app.get('/free', (_, response) => response.type('html').send(page))
  const listening = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => listening.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}`,
    served: () => served,
    setPrice: (units: string) => {
      price = units
    },
    close: () => {
      listening.closeAllConnections()
      return new Promise((resolve) => listening.close(resolve))
    },
  }
}
