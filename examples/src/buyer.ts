/** Buys one URL and prints it: `SVC_PAYER_PK=0x… node examples/dist/buyer.js http://127.0.0.1:4000/cheap` */
import { createPayerScheme, deliverPayments, withSpendControls } from '@svc-zerc20/payer'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'

const { SVC_PAYER_PK, SVC_RPC_URL = 'http://127.0.0.1:8545', SVC_MODE, SVC_MAX_PER_PAYMENT } = process.env
const [, , url] = process.argv
if (!url || !SVC_PAYER_PK) throw new Error('usage: SVC_PAYER_PK=0x… buyer <url>')

const network = 'eip155:31337'
const payer = createPayerScheme({
  account: privateKeyToAccount(SVC_PAYER_PK as `0x${string}`),
  rpcUrl: SVC_RPC_URL,
  network,
  mode: SVC_MODE === 'self-transfer' ? 'self-transfer' : 'permit',
  maxAmountPerPayment: SVC_MAX_PER_PAYMENT ?? '1000000',
})
const client = withSpendControls(new x402Client(), 'any').register(network, payer)
const pay = wrapFetchWithPayment(deliverPayments(fetch, payer), client)

const response = await pay(url)
process.stdout.write(`${response.status} ${await response.text()}\n`)
const receipt = response.headers.get('PAYMENT-RESPONSE')
if (receipt) process.stdout.write(`burned in ${decodePaymentResponseHeader(receipt).transaction}\n`)
process.exitCode = response.ok ? 0 : 1
