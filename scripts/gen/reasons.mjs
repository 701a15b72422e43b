import { reasons } from '@svc-zerc20/protocol'

const retryMeaning = {
  never: 'sending it again gives the same answer',
  fresh_offer: 'fetch a new 402 and pay its offer',
  same_payload: 'send the very same payload again, after a pause',
  later: 'wait for `Retry-After`, then repeat the request',
}

const row = (cells) => `| ${cells.join(' | ')} |`

/** docs/reference/reasons.md */
export function renderReasons() {
  const rows = Object.entries(reasons).map(([code, { status, retry, help }], index) =>
    row([index + 1, `\`${code}\``, status, `\`${retry}\``, help]),
  )
  const legend = Object.entries(retryMeaning).map(([retry, meaning]) => row([`\`${retry}\``, meaning]))
  return `<!-- Generated from packages/protocol/src/reasons.ts by \`npm run gen\`. Do not edit. -->

# Reasons

Every refusal has one of these codes: in \`invalidReason\` of \`/verify\`, in \`errorReason\` of \`/settle\`, and in \`reason\`,
beside the message in \`error\`, of any other answer. Codes never change their meaning. New ones may be added.

If several codes apply, the answer has the first in this order. The status is that of the facilitator's own answer. A
verdict about a payment has status 200, because the official x402 middleware forwards only such answers completely.

| retry | what helps |
|---|---|
${legend.join('\n')}

| # | code | status | retry | meaning |
|---|---|---|---|---|
${rows.join('\n')}
`
}
