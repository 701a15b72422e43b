/**
 * Whether a payer gets slower with what it remembers: many payments one after the other by one payer with one state folder,
 * each of another path. Seller and node are stubs in this process that always answer alike, so that all growth is the payer's.
 * After a build: `node tools/bench/dist/commands/payer-growth.js --payments 10000`, with `--folder` on the disk that is meant.
 * Time passes in disks and other programs, too: the time of the processor alone is printed beside it.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createPayer } from '@svc-zerc20/payer'
import { Headers } from '@svc-zerc20/protocol'
import { encodeAbiParameters, type Hex, numberToHex, pad, toEventSelector, toFunctionSelector } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { percentile } from '../measure/load.js'
import { explain, say } from '../say.js'

const { values } = parseArgs({
  options: {
    payments: { type: 'string', default: '10000' },
    folder: { type: 'string', default: tmpdir() },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  explain(`Usage: node tools/bench/dist/commands/payer-growth.js [options]

Whether a payer gets slower with what it remembers.

  --payments N      payments one after the other, 10000 by default
  --folder FOLDER   where its state is, on the disk that is meant; the folder of temporary files by default`)
}
const payments = Number(values.payments)
const part = Math.max(1, Math.round(payments / 20))
/** With more the last payments are slower than the first, and the program exits with 1. */
const cpuRatioMax = 1.2

type Took = { readonly ms: number; readonly cpuMs: number }

const network = 'eip155:31337'
const token = `0x${'11'.repeat(20)}` as const
const helper = `0x${'22'.repeat(20)}` as const
const amount = 1_000n
const hex = (bytes: number): Hex => `0x${randomBytes(bytes).toString('hex')}`

/** Burns that the seller names, and where they went: what the node knows of the chain. */
const burns = new Map<string, string>()

const seller: RequestListener = (request, response) => {
  const header = request.headers[Headers.paymentSignature.toLowerCase()]
  if (typeof header !== 'string') {
    const expiresAt = Math.floor(Date.now() / 1_000) + 300
    const extra = { challengeNonce: hex(32), helper, deadline: expiresAt, expiresAt, powBits: 16 }
    const offer = {
      scheme: 'svc-zerc20',
      network,
      asset: token,
      amount: `${amount}`,
      payTo: hex(20),
      maxTimeoutSeconds: 300,
      extra,
    }
    const required = {
      x402Version: 2,
      error: '',
      resource: { url: '', description: '', mimeType: '' },
      accepts: [offer],
    }
    response.writeHead(402, { [Headers.paymentRequired]: Headers.encode(required) }).end()
    return
  }
  const decoded = Headers.decode(header)
  if (!decoded.ok) throw new Error('the payment cannot be read')
  const { accepted } = decoded.value as { accepted: { payTo: string } }
  const transaction = hex(32)
  burns.set(transaction, accepted.payTo)
  const receipt = Headers.encode({ success: true, network, transaction })
  response.writeHead(200, { [Headers.paymentResponse]: receipt }).end('the goods')
}

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }
const selectors = {
  name: toFunctionSelector('name()'),
  nonces: toFunctionSelector('nonces(address)'),
}

function answerTo({ method, params }: Call): unknown {
  if (method === 'eth_chainId') return numberToHex(31_337)
  if (method === 'eth_getCode') return '0x00'
  if (method === 'eth_call') {
    const { data } = params[0] as { data: Hex }
    if (data.startsWith(selectors.name)) return encodeAbiParameters([{ type: 'string' }], ['token'])
    return numberToHex(data.startsWith(selectors.nonces) ? burns.size : 10n ** 30n, { size: 32 })
  }
  if (method === 'eth_getTransactionReceipt') {
    const payTo = burns.get(String(params[0]))
    const transfer = toEventSelector('Transfer(address,address,uint256)')
    const topics = [transfer, pad(token), pad((payTo ?? helper) as Hex)]
    const log = { address: token, topics, data: numberToHex(amount, { size: 32 }) }
    return payTo === undefined ? null : { status: '0x1', logs: [log] }
  }
  throw new Error(`the stub knows no ${method}`)
}

const node: RequestListener = async (request, response) => {
  const calls = JSON.parse(await textOf(request)) as Call | Call[]
  const answer = (call: Call) => ({ jsonrpc: '2.0', id: call.id, result: answerTo(call) })
  response.end(JSON.stringify(Array.isArray(calls) ? calls.map(answer) : answer(calls)))
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request) text += piece
  return text
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const folder = await mkdtemp(join(values.folder, 'svc-pay-growth-'))
try {
  const [shop, rpcUrl] = await Promise.all([listen(seller), listen(node)])
  const payer = createPayer({
    account: privateKeyToAccount(generatePrivateKey()),
    rpcUrl,
    network,
    allowedHosts: ['127.0.0.1'],
    allowedTokens: [token],
    allowedHelpers: [helper],
    maxAmountPerPayment: 'unlimited',
    maxTotal: 'unlimited',
    state: folder,
  })
  const took: Took[] = []
  const medians = (some: readonly Took[]): Took => ({
    ms: percentile(
      some.map(({ ms }) => ms),
      0.5,
    ),
    cpuMs: percentile(
      some.map(({ cpuMs }) => cpuMs),
      0.5,
    ),
  })
  for (let made = 0; made < payments; made += 1) {
    const [beganMs, cpu] = [performance.now(), process.cpuUsage()]
    const { payment } = await payer.pay(`${shop}/thing/${made}`)
    if (payment?.transaction === undefined) throw new Error(`payment ${made} was not seen on the chain`)
    const { user, system } = process.cpuUsage(cpu)
    took.push({ ms: performance.now() - beganMs, cpuMs: (user + system) / 1_000 })
    if (made % part !== part - 1) continue
    const { ms, cpuMs } = medians(took.slice(-part))
    say(`${made + 1} payments: ${ms.toFixed(1)} ms each, ${cpuMs.toFixed(1)} ms of the processor`)
  }
  const [first, last] = [medians(took.slice(0, part)), medians(took.slice(-part))]
  const [ratio, cpuRatio] = [last.ms / first.ms, last.cpuMs / first.cpuMs]
  say(
    `the last ${part} take ${ratio.toFixed(2)} times what the first ${part} take, ${cpuRatio.toFixed(2)} of the processor`,
  )
  if (cpuRatio > cpuRatioMax) process.exitCode = 1
} finally {
  await rm(folder, { recursive: true, force: true })
}
process.exit()
