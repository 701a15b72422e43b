/** Paid routes of hono. */
import { createGate, type GateOptions, type PaidSale } from '../gate/gate.js'
import type { SvcScheme } from '../scheme/scheme.js'
import { visits } from '../visits/visit.js'

type Middleware = (context: never, next: never) => unknown

type Context = {
  readonly req: { readonly method: string; readonly path: string }
  readonly env?: { readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } } } | undefined
  body(data: string | null, status: number, headers: Record<string, string>): unknown
}
type Handle = (context: Context, next: () => Promise<unknown>) => unknown

/**
 * Makes `paid(sale)`, a handler that stands before the handler it sells:
 * `const paid = sellOnHono(svc, paymentMiddlewareFromHTTPServer)`, then `app.get('/report', paid({ price }), handler)`.
 * Pass it `paymentMiddlewareFromHTTPServer` of `@x402/hono`. Under `@hono/node-server` the client's address is known;
 * elsewhere set `client`.
 */
export function sellOnHono<Official extends Middleware>(
  svc: SvcScheme,
  paymentMiddlewareFromHTTPServer: (server: never) => Official,
  options: GateOptions<Parameters<Official>[0]> = {},
): (sale: PaidSale) => Official {
  const client = options.client ?? ((context: Context) => context.env?.incoming?.socket?.remoteAddress)
  const open = createGate<Context>(svc, {
    ...options,
    client: client as (context: Context) => string | undefined,
  })
  return (sale) => {
    const { route, admit } = open(sale)
    const official = paymentMiddlewareFromHTTPServer(route as never) as unknown as Handle
    const handle: Handle = async (context, next) => {
      const { method, path } = context.req
      const admission = admit({ request: context, method, path })
      if (admission === 'free') return next()
      if ('visit' in admission) return visits.run(admission.visit, () => official(context, next))
      const { status, headers, body } = admission.answer
      return context.body(body === undefined ? null : JSON.stringify(body), status, headers)
    }
    return handle as unknown as Official
  }
}
