/** Paid routes of express. */
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { createGate, type GateOptions, type PaidSale } from '../gate/gate.js'
import type { SvcScheme } from '../scheme/scheme.js'
import type { Params } from '../visits/priced-request.js'
import { visits } from '../visits/visit.js'
import { type Holdable, holdAnswer } from './held-answer.js'
import { type Recordable, recordAnswer, writeAnswer } from './recorded-answer.js'
import { endOf } from './whole-answer.js'

type Middleware = (request: never, response: never, next: never) => unknown

type Request = {
  readonly method: string
  readonly baseUrl: string
  readonly path: string
  readonly originalUrl: string
  readonly params?: Params
  /** Of a handler in `app.use` there is none. */
  readonly route?: { readonly path?: unknown } | undefined
  readonly headers: Record<string, string | string[] | undefined>
  readonly socket: { readonly remoteAddress?: string | undefined }
}
type Response = Holdable &
  Recordable & {
    status(code: number): Response
    set(headers: Record<string, string>): Response
    json(body: object): unknown
  }
type Next = (error?: unknown) => unknown
type Handle = (request: Request, response: Response, next: Next) => unknown

/**
 * Makes `paid(sale)`, a handler that stands before the handler it sells:
 * `const paid = sellOnExpress(svc, paymentMiddlewareFromHTTPServer)`, then `app.get('/report', paid({ price }), handler)`.
 * Pass it `paymentMiddlewareFromHTTPServer` of `@x402/express`.
 */
export function sellOnExpress<Official extends Middleware>(
  svc: SvcScheme,
  paymentMiddlewareFromHTTPServer: (server: never) => Official,
  options: GateOptions<Parameters<Official>[0]> = {},
): (sale: PaidSale) => Official {
  const { clock = systemClock } = options
  const client = options.client ?? ((request: Request) => request.socket.remoteAddress)
  const open = createGate<Request>(svc, {
    ...options,
    client: client as (request: Request) => string | undefined,
  })
  return (sale) => {
    const { route, admit } = open(sale)
    const official = paymentMiddlewareFromHTTPServer(route as never) as unknown as Handle
    const handle: Handle = async (request, response, next) => {
      const { method, baseUrl, path: rest, params, originalUrl: target, headers } = request
      const header = (name: string) => [headers[name.toLowerCase()]].flat()[0]
      const anyCase = { mount: baseUrl, patterns: patternsOf(request) }
      const routed = { path: `${baseUrl}${rest}`, anyCase, params }
      const admission = await admit({ request, method, ...routed, target, header })
      if (admission === 'free') return next()
      if ('visit' in admission) {
        const { visit, presentation } = admission
        const goOn: Next = (...error) => {
          if (error.length > 0) return next(...error)
          const takeBack = holdAnswer(response)
          visit.takeBack = takeBack
          const ended = endOf(response, clock, takeBack)
          return Promise.all([next(), ended])
        }
        recordAnswer(response, (answer) => presentation.end(visit.isAccepted ? answer : undefined))
        response.once('close', () => presentation.abandon(() => visit.isAccepted === true))
        return visits.run(visit, () => official(request, response, goOn))
      }
      if ('kept' in admission) return writeAnswer(response, admission.kept)
      const { status, headers: told, body } = admission.answer
      response.status(status).set(told)
      return typeof body === 'object' ? response.json(body) : response.end(...(body ? [body] : []))
    }
    return handle as unknown as Official
  }
}

const patternsOf = ({ route }: Request): string[] =>
  [route?.path].flat().filter((path) => typeof path === 'string')
