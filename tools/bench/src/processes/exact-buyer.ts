/** Buys one URL with the official client and the scheme `exact`, as its manual shows, and prints the answer. */
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'

const [, , url = ''] = process.argv
const account = privateKeyToAccount(process.env.PRIVATE_KEY as `0x${string}`)
const client = new x402Client().register('eip155:*', new ExactEvmScheme(account))
// The token of the benchmark is none of those that the client knows.
client.setSpendControls({ allowedAssets: true })
const response = await wrapFetchWithPayment(fetch, client)(url)
process.stdout.write(`${response.status} ${await response.text()}\n`)
process.exitCode = response.ok ? 0 : 1
