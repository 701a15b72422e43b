/**
 * Buys one URL and prints it. On a devnet the addresses and the payer's key are in .devnet/network.json:
 * `SVC_PAYER_PK=0x… SVC_MAX_PER_PAYMENT=1000000 SVC_ALLOWED_TOKEN=0x… SVC_ALLOWED_HELPER=0x… \
 *   node examples/dist/buyer.js http://127.0.0.1:4021/cheap`
 */
import {
  createPayerScheme,
  deliverPayments,
  type PayerMode,
  readSpendChoices,
  withSpendControls,
} from '@svc-zerc20/payer'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'

const { SVC_PAYER_PK, SVC_RPC_URL = 'http://127.0.0.1:8545', SVC_MODE, SVC_ALLOWED_HELPER } = process.env
const [, , url] = process.argv
if (!url || !SVC_PAYER_PK) throw new Error('usage: SVC_PAYER_PK=0x… buyer <url>')

const { choices, warnings } = readSpendChoices(process.env)
for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`)
const network = 'eip155:31337'
const payer = createPayerScheme({
  account: privateKeyToAccount(SVC_PAYER_PK as `0x${string}`),
  rpcUrl: SVC_RPC_URL,
  network,
  ...choices,
  // Without this list, any permit burner with the known code is signed for.
  ...(SVC_ALLOWED_HELPER && { allowedHelpers: [SVC_ALLOWED_HELPER] }),
  ...(SVC_MODE && { mode: SVC_MODE as PayerMode }),
})
const client = withSpendControls(new x402Client(), 'any').register(network, payer)
const pay = wrapFetchWithPayment(deliverPayments(fetch, payer), client)

// The message says what went wrong, what to do, and the burn's hash if there is one.
const response = await pay(url).catch((error: Error) => {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
})
process.stdout.write(`${response.status} ${await response.text()}\n`)
const receipt = response.headers.get('PAYMENT-RESPONSE')
if (receipt) process.stdout.write(`burned in ${decodePaymentResponseHeader(receipt).transaction}\n`)
process.exitCode = response.ok ? 0 : 1
