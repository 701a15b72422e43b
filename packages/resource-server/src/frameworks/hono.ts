/** Paid routes of hono. */
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { createGate, type GateOptions, type PaidSale } from '../gate/gate.js'
import type { SvcScheme } from '../scheme/scheme.js'
import type { Params } from '../visits/priced-request.js'
import { keptToResponse, refusalToResponse, serve } from './web-answer.js'
import { wholeOf } from './whole-answer.js'

type Middleware = (context: never, next: never) => unknown

type Context = {
  readonly req: {
    readonly method: string
    readonly path: string
    readonly url: string
    /** Its signal tells that the client is gone. */
    readonly raw: { readonly signal?: AbortSignal }
    header(name: string): string | undefined
    param(): Params
  }
  res: Response | undefined
  readonly env?: { readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } } } | undefined
}
type Handle = (context: Context, next: () => Promise<unknown>) => unknown
type Served = (...args: Parameters<Handle>) => Promise<Response | undefined>

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
  const { clock = systemClock } = options
  const client = options.client ?? ((context: Context) => context.env?.incoming?.socket?.remoteAddress)
  const open = createGate<Context>(svc, {
    ...options,
    client: client as (context: Context) => string | undefined,
  })
  return (sale) => {
    const { route, admit } = open(sale)
    const official = paymentMiddlewareFromHTTPServer(route as never) as unknown as Served
    const handle: Handle = async (context, next) => {
      const { method, path, url } = context.req
      const { pathname, search } = new URL(url)
      const header = (name: string) => context.req.header(name)
      const routed = { path, params: context.req.param() }
      const admission = await admit({
        request: context,
        method,
        ...routed,
        target: pathname + search,
        header,
      })
      if (admission === 'free') return next()
      if ('answer' in admission) return refusalToResponse(admission.answer)
      if ('kept' in admission) return keptToResponse(admission.kept)
      const goOn = async () => {
        await next()
        const whole = await wholeOf(context.res as Response, clock)
        // Otherwise hono adds the headers of the one to those of the other.
        context.res = undefined
        context.res = whole
      }
      // The official middleware returns a refusal, and sets `res` to an answer.
      const run = async () => (await official(context, goOn)) ?? (context.res as Response)
      return serve(admission, context.req.raw.signal, run)
    }
    return handle as unknown as Official
  }
}
