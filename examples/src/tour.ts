/**
 * A tour of a running devnet: pays once by permit and once by self-transfer, prints each step with its time, and shows
 * how both payments are minted to the provider.
 * `node examples/dist/tour.js .devnet/network.json`
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createPayerScheme, deliverPayments, withSpendControls } from '@svc-zerc20/payer'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { type Address, createPublicClient, erc20Abi, formatEther, formatUnits, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { openShares } from './shares.js'
import { holdBlocks } from './take-over.js'
import { watchFinalization } from './watch-finalization.js'

type Mode = 'permit' | 'self-transfer'

const file = process.argv[2] ?? '.devnet/network.json'
const network = JSON.parse(readFileSync(file, 'utf8'))
const payer = privateKeyToAccount(network.accounts.payer.privateKey)
const chain = createPublicClient({ transport: http(network.rpcUrl) })
const caip2 = `eip155:${network.chainId}` as const
/** Highest price of one purchase, in base units: one zUSD. */
const costMax = '1000000'

const say = (text: string) => process.stdout.write(`${text}\n`)
const short = (hex: string) => `${hex.slice(0, 10)}…${hex.slice(-4)}`
const units = (amount: string | bigint) => `${formatUnits(BigInt(amount), 6)} zUSD`

const tokensOf = (owner: Address) =>
  chain.readContract({ address: network.token, abi: erc20Abi, functionName: 'balanceOf', args: [owner] })

const balances = async () => ({
  tokens: await tokensOf(payer.address),
  gasMoney: await chain.getBalance({ address: payer.address }),
})

/** Prints every request and answer, with the time since the purchase began. */
function narrated(
  mode: Mode,
  line: (text: string) => void,
  noteOffer: (offer: { extra?: Record<string, unknown> }) => void,
): typeof fetch {
  let isSigned = false
  return async (input, init) => {
    const request = new Request(input, init)
    const paying = request.headers.has('PAYMENT-SIGNATURE')
    // A payment without an answer is presented again, as it is.
    const isNew = paying && !isSigned
    isSigned ||= paying
    if (isNew)
      line(
        mode === 'permit'
          ? 'signed permit and burn authorization, no gas'
          : 'transferred to the burn address, mined',
      )
    line(`${request.method} ${new URL(request.url).pathname}${paying ? ' with PAYMENT-SIGNATURE' : ''}`)
    const response = await fetch(request)
    const required = response.headers.get('PAYMENT-REQUIRED')
    const offer = required ? decodePaymentRequiredHeader(required).accepts[0] : undefined
    if (offer) noteOffer(offer)
    const fee = (offer?.extra?.fee as { amount: string } | undefined)?.amount
    const ofItFee = fee === undefined ? '' : `, of it ${units(fee)} fee,`
    line(
      offer
        ? `402: ${units(offer.amount)}${ofItFee} to the one-time address ${short(offer.payTo)}`
        : `${response.status}`,
    )
    return response
  }
}

/** Buys once. Returns the payment's challenge nonce. */
async function buy(mode: Mode, route: { path: string }): Promise<string> {
  const startedMs = performance.now()
  const line = (text: string) =>
    say(`  ${`${Math.round(performance.now() - startedMs)} ms`.padStart(8)}  ${text}`)
  const before = await balances()
  const scheme = createPayerScheme({
    account: payer,
    rpcUrl: network.rpcUrl,
    network: caip2,
    mode,
    allowedTokens: [network.token],
    allowedHelpers: [network.helper],
    maxAmountPerPayment: costMax,
  })
  const client = withSpendControls(new x402Client(), 'any').register(caip2, scheme)
  let challengeNonce = ''
  const noteOffer = (offer: { extra?: Record<string, unknown> }) => {
    challengeNonce = String(offer.extra?.challengeNonce)
  }
  const pay = wrapFetchWithPayment(deliverPayments(narrated(mode, line, noteOffer), scheme), client)

  const isKilling = mode === 'permit' && network.facilitators !== undefined
  const drama = isKilling ? ', while the facilitator that sends it is killed' : ''
  say(`\n${mode === 'permit' ? 'Gasless permit' : 'Self-transfer'}: buying ${route.path}${drama}`)
  const held = isKilling ? await holdBlocks({ network, line }) : undefined
  const [response] = await Promise.all([pay(`${network.shopUrl}${route.path}`), held?.killSender()])
  const receipt = response.headers.get('PAYMENT-RESPONSE')
  if (!response.ok || !receipt)
    throw new Error(`${route.path} answered ${response.status}: ${await response.text()}`)
  line(`accepted: burned in ${short(decodePaymentResponseHeader(receipt).transaction)}`)
  line(`served: ${await response.text()}`)
  const after = await balances()
  const gas = before.gasMoney - after.gasMoney
  say(
    `            the payer paid ${units(before.tokens - after.tokens)} and ${gas === 0n ? 'no gas' : `${formatEther(gas)} ETH of gas`}`,
  )
  return challengeNonce
}

const shares = openShares({ network, payer, chain, tokensOf, units, say })
const before = await shares.read()
const payments = [
  { name: 'the permit payment', nonce: await buy('permit', network.routes.cheap) },
  { name: 'the self-transfer', nonce: await buy('self-transfer', network.routes.dear) },
]
if (network.artifacts === undefined) process.exit(0)

say('\nFinalized: the provider is paid by proof, to an address no payer ever sees')
const logFile = network.facilitators?.[0].logFile ?? join(dirname(file), 'facilitator.log')
const isFinalized = await watchFinalization({ network, payments, logFile, say })
await shares.tell(before, payments)
say(
  network.isBatch
    ? `
Private? Not these two: one sum of two burns by one account names both. A batch hides a payment among those of other payers, at
prices that others have, too: docs/concepts/privacy-limits.md`
    : `
Private? Not these two: alone on their chain, with amounts of their own and minted seconds later, anybody can pair each mint with
its burn. A payment hides among others of the same amount, and best in a batch (npm start -- --batch): docs/concepts/privacy-limits.md`,
)
if (!isFinalized) process.exit(1)
