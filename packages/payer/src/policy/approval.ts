/** The question to a human, and how long it waits. */
import { type ChallengeNonce, type Clock, inTime } from '@svc-zerc20/protocol'

/** One question: everything a human needs to say yes or no. All its text is printable. */
export type ApprovalRequest = {
  readonly challengeNonce: ChallengeNonce
  /** The hash over what will be signed and the request that it pays for. An answer is for this hash and no other. */
  readonly terms: string
  readonly method: string
  /** Host and port. */
  readonly host: string
  /** The whole URL that is paid. One that is too long is cut, with its hash. */
  readonly url: string
  /** Method and URL of the request as it was made, where a redirect led from there. */
  readonly askedAs?: string
  /** Size, first bytes and hash of the body of the request. */
  readonly body: string
  readonly network: string
  readonly token: string
  readonly payer: string
  /** In base units. */
  readonly amount: string
  /** In tokens, as `1.5 USDC`; absent when the token does not tell its decimals. */
  readonly tokens?: string
  /** The part of the amount that is a fee, in base units. */
  readonly fee?: string
  /** The amount that may still be spent in total after this payment, in base units, or `unlimited`. */
  readonly remaining: string
  /** Why a human is asked. */
  readonly why: string
  readonly until: number
}

/** Asks a human. Anything but `true`, an error included, means no. The signal ends the question. */
export type Approver = (request: ApprovalRequest, signal: AbortSignal) => Promise<boolean>

/** Asks once, and takes silence for a no. The question is withdrawn when nobody wants its answer any more. */
export async function askHuman(
  approver: Approver,
  request: ApprovalRequest,
  timeoutMs: number,
  clock: Clock,
  left?: AbortSignal,
): Promise<'approved' | 'denied' | 'silent' | 'failed' | 'withdrawn'> {
  if (left?.aborted) return 'withdrawn'
  const over = new AbortController()
  const withdrawn = new Promise<'withdrawn'>((resolve) =>
    left?.addEventListener('abort', () => resolve('withdrawn'), { once: true, signal: over.signal }),
  )
  const answer = Promise.resolve()
    .then(() => approver(request, over.signal))
    .then(
      (said) => (said === true ? ('approved' as const) : ('denied' as const)),
      () => 'failed' as const,
    )
  try {
    const said = await inTime(Promise.race([answer, withdrawn]), timeoutMs, clock)
    if (said === 'withdrawn' || left?.aborted) return 'withdrawn'
    // A machine that slept may hear the answer before its own timer.
    return said === 'late' || clock.now() >= request.until ? 'silent' : said
  } finally {
    over.abort()
  }
}

/**
 * Asks in several places at once. The first yes or no counts. A place that fails leaves the answer to the
 * others.
 */
export const firstOf =
  (...approvers: readonly Approver[]): Approver =>
  (request, signal) =>
    Promise.any(approvers.map((approver) => approver(request, signal)))

/** Name and value of everything a human should look at, in order. */
export function linesOf(request: ApprovalRequest): readonly (readonly [string, string])[] {
  const {
    method,
    host,
    url,
    askedAs,
    body,
    amount,
    tokens,
    fee,
    remaining,
    network,
    token,
    payer,
    why,
    terms,
  } = request
  return [
    ['buys', `${method} ${url}`],
    ...(askedAs === undefined ? [] : [['asked for as', askedAs] as const]),
    ['at host', host],
    ['with body', body],
    ['amount', tokens === undefined ? `${amount} base units` : `${tokens} (${amount} base units)`],
    ...(fee === undefined ? [] : [['of it fee', `${fee} base units`] as const]),
    ['left after it', remaining === 'unlimited' ? 'no cap on the total' : `${remaining} base units`],
    ['token', `${token} on ${network}`],
    ['paid by', payer],
    ['asked because', why],
    ['approves', terms],
  ]
}

export const textOf = (request: ApprovalRequest): string =>
  linesOf(request)
    .map(([name, value]) => `  ${name.padEnd(14)}${value}`)
    .join('\n')
