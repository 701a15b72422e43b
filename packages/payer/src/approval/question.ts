/** A question in words, the same in every place where it is asked. */
import type { ApprovalRequest } from './approval.js'

/** Name and value of everything a human should look at, in order. */
export function linesOf(request: ApprovalRequest): readonly (readonly [string, string])[] {
  const { method, host, path, body, amount, tokens, fee, remaining, network, token, payer, why, terms } =
    request
  return [
    ['buys', `${method} ${path}`],
    ['at host', host],
    ['with body', body],
    ['amount', tokens === undefined ? `${amount} base units` : `${tokens} (${amount} base units)`],
    ...(fee === undefined ? [] : [['of it fee', `${fee} base units`] as const]),
    ['left after it', remaining === 'unlimited' ? 'no cap on the total' : `${remaining} base units`],
    ['token', `${token} on ${network}`],
    ['paid by', payer],
    ['asked because', why],
    ['signs', terms],
  ]
}

export const textOf = (request: ApprovalRequest): string =>
  linesOf(request)
    .map(([name, value]) => `  ${name.padEnd(14)}${value}`)
    .join('\n')
