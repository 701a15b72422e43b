import { expect, it } from 'vitest'
import { openNextShop } from './support/next-shop.js'
import { payOffer } from './support/payments.js'
import { describePurchases } from './support/purchase-suite.js'
import { offerOf, paying, required } from './support/wire.js'

const verbs = ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']
const verbsOfEverySpelling = ['GET', 'HEAD', 'POST']
const spellings: ((path: string) => string)[] = [
  (path) => path,
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.toUpperCase(),
  (path) => `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`,
  (path) => `${path}%2f`,
  (path) => `${path}?a=1`,
  (path) => `${path};a=b`,
  (path) => `/.${path}`,
  (path) => `/x/..${path}`,
]
const places = ['/cheap', '/dear', '/every', '/item/7']

// Our gate sells the cheap route, the official `paymentProxy` the expensive one.
describePurchases('@x402/next', openNextShop, ['/cheap', '/dear'], (opened) => {
  const served = async () => {
    const { url } = opened().shop
    return (await (await fetch(`${url}/served`)).json()).served as number
  }

  it.each(places)('at %s never runs unpaid: every verb, every spelling', async (place) => {
    const { shop } = opened()
    for (const method of [...verbsOfEverySpelling, ...verbs]) {
      for (const spell of verbs.includes(method) ? spellings.slice(0, 1) : spellings) {
        const response = await fetch(`${shop.url}${spell(place)}`, {
          method,
          redirect: 'manual',
          headers: { 'x-http-method-override': 'GET' },
        })
        expect(`${method} ${spell(place)}: ${await response.text()}`).not.toContain('bought')
      }
    }
    expect(await served()).toBe(0)
  })

  it.each(places)('at %s answers an unpaid HEAD with 402 and takes no challenge for it', async (place) => {
    const { interop, shop } = opened()
    await fetch(`${shop.url}${place}`)
    interop.proxy.forget()
    const response = await fetch(`${shop.url}${place}`, { method: 'HEAD' })
    expect(response.status).toBe(402)
    expect(interop.proxy.paths()).toEqual([])
  })

  it('at /item/7 runs once with its parameters when it is paid', async () => {
    const { interop, shop } = opened()
    const url = `${shop.url}/item/7`
    const payment = await payOffer(interop, offerOf(required(await fetch(url))))
    const response = await fetch(url, paying(payment))
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ bought: '7' })
    expect(await served()).toBe(1)
  })
})
