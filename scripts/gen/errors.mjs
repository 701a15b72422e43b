import { errorCodes } from '@svc-zerc20/protocol'

/** docs/reference/errors.md */
export function renderErrors() {
  const rows = Object.entries(errorCodes).map(
    ([code, { means, exit, reason }]) =>
      `| \`${code}\` | ${means} | ${exit ? 1 : 75} | ${reason ? `\`${reason}\`` : ''} |`,
  )
  return `<!-- Generated from packages/protocol/src/error-codes.ts by \`npm run gen\`. Do not edit. -->

# Error codes

What a log line has in \`code\`, and what our programs throw as the \`code\` of an \`SvcError\`: failures of the world or of
a setting. What a caller is refused for is in [reasons](reasons.md). What became of a payer's money is in its
[own table](../guides/pay-from-code.md), and \`svc-pay\` has [exit codes](svc-pay.md) of its own.

A daemon that ends with such an error exits with 1 where only a person can correct it, and with 75 where it may start again. A
caller over HTTP is told the reason, and \`internal_error\` where there is none.

| code | meaning | exit | reason |
|---|---|---|---|
${rows.join('\n')}
`
}
