// One of several processes that pay within one state folder. `racing-payer.mjs <JSON>`, with the options of `createPayer`,
// the private key, the URL, and in `signing` and `approving` what happens when this process signs or asks a human:
// `at once`, `fails`, or `when told`, which says so on standard output and waits for a line on standard input.
import { once } from 'node:events'
import { privateKeyToAccount } from 'viem/accounts'
import { createPayer } from '../dist/index.js'

const { privateKey, url, signing, approving, ...options } = JSON.parse(process.argv[2] ?? '{}')
const account = privateKeyToAccount(privateKey)
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

async function pause(what, how) {
  say({ is: what })
  if (how === 'fails') throw new Error('the key is not there')
  if (how === 'when told') await once(process.stdin, 'data')
}

const payer = createPayer({
  ...options,
  account: {
    ...account,
    async signTypedData(data) {
      if (data.primaryType === 'Permit') await pause('signing', signing)
      return account.signTypedData(data)
    },
    async signTransaction(transaction) {
      await pause('signing', signing)
      return account.signTransaction(transaction)
    },
  },
  async approve() {
    await pause('approving', approving)
    return true
  },
})

try {
  const { response } = await payer.pay(url)
  say({ status: response.status })
} catch (error) {
  say({ code: error.code ?? error.message })
}
process.exit(0)
