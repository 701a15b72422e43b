/**
 * Buys one URL and prints it. On a devnet the addresses and the payer's key are in .devnet/network.json:
 * `SVC_PAYER_PK=0x… SVC_MAX_PER_PAYMENT=1000000 SVC_MAX_TOTAL=5000000 SVC_ALLOWED_TOKEN=0x… \
 *   node examples/dist/buyer.js http://127.0.0.1:4021/cheap`
 */
import { createPayerFromEnvironment, deliverPayments, withSpendControls } from '@svc-zerc20/payer'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'

const [, , url] = process.argv
if (!url || !process.env.SVC_PAYER_PK) throw new Error('usage: SVC_PAYER_PK=0x… buyer <url>')

// Keys and limits are those of the environment, the same as for `svc-pay`.
const { payer, warnings } = createPayerFromEnvironment(process.env)
for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`)
const { scheme, policy } = payer
const client = withSpendControls(new x402Client(), 'any').register(policy.network, scheme)
const pay = wrapFetchWithPayment(deliverPayments(fetch, scheme), client)

// The message says what went wrong, what to do, and the burn's hash if there is one.
const response = await pay(url).catch((error: Error) => {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
})
process.stdout.write(`${response.status} ${await response.text()}\n`)
const receipt = response.headers.get('PAYMENT-RESPONSE')
if (receipt) process.stdout.write(`burned in ${decodePaymentResponseHeader(receipt).transaction}\n`)
process.exitCode = response.ok ? 0 : 1
