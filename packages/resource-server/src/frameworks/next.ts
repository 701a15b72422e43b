/** Paid route handlers of Next. */
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { createGate, type GateOptions, type PaidSale } from '../gate/gate.js'
import type { SvcScheme } from '../scheme/scheme.js'
import type { Params } from '../visits/priced-request.js'
import { visits } from '../visits/visit.js'
import { keptToResponse, refusalToResponse, serve } from './web-answer.js'
import { wholeOf } from './whole-answer.js'

type Request = {
  readonly method: string
  readonly nextUrl: { readonly pathname: string; readonly search: string }
  readonly headers: { get(name: string): string | null }
  /** Tells that the client is gone. */
  readonly signal?: AbortSignal
}
type Wrap = (
  handler: (request: unknown) => Promise<never>,
  server: never,
) => (request: never) => Promise<unknown>
type Handler = (request: never, context: never) => unknown
type Context = { readonly params?: Params | Promise<Params> } | undefined
type Handle = (request: Request, context: Context) => Promise<unknown>

/** A handler of Next sees no connection, so the seller must say how clients are told apart. */
export type NextGateOptions<Request> = GateOptions<Request> &
  ({ readonly client: (request: Request) => string | undefined } | { readonly clientLimits: 'unlimited' })

/**
 * Makes `paid(sale, handler)`: `const paid = sellOnNext(svc, withX402FromHTTPServer, { client })`, then
 * `export const GET = paid({ price }, handler)`. Pass it `withX402FromHTTPServer` of `@x402/next`.
 */
export function sellOnNext<Official extends Wrap>(
  svc: SvcScheme,
  withX402FromHTTPServer: Official,
  options: NextGateOptions<Parameters<ReturnType<Official>>[0]>,
): <Sold extends Handler>(sale: PaidSale, handler: Sold) => Sold {
  const { clock = systemClock } = options
  const open = createGate<Request>(svc, options as GateOptions<Request>)
  return (sale, handler) => {
    const { route, admit } = open(sale)
    const run = handler as unknown as Handle
    // The official wrapper passes only the request on. The parameters of a dynamic route come from the visit.
    const sold = async (request: unknown) => {
      const answer = await run(request as Request, visits.getStore()?.handed as Context)
      return (await wholeOf(answer as Response, clock)) as never
    }
    const official = withX402FromHTTPServer(sold, route as never) as (request: Request) => Promise<Response>
    const handle: Handle = async (request, context) => {
      const { method, nextUrl, headers } = request
      const admission = await admit({
        request,
        method,
        path: nextUrl.pathname,
        params: await context?.params,
        target: nextUrl.pathname + nextUrl.search,
        header: (name) => headers.get(name) ?? undefined,
        handed: context,
      })
      if (admission === 'free') return run(request, context)
      if ('answer' in admission) return refusalToResponse(admission.answer)
      if ('kept' in admission) return keptToResponse(admission.kept)
      return serve(admission, request.signal, () => official(request))
    }
    return handle as unknown as typeof handler
  }
}
