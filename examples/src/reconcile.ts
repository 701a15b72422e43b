/**
 * Compares an export of the payment history with the chain, transaction by transaction:
 * `node examples/dist/reconcile.js EXPORT.json RPC_URL [FIRST_BLOCK]`. Ends with 0 when both say the same, with 1 otherwise.
 */
import { readFileSync } from 'node:fs'
import { type Address, createPublicClient, http, parseAbiItem } from 'viem'

type Export = {
  readonly token: Address
  readonly payments: readonly Payment[]
}
type Payment = Minted & {
  readonly payer?: Address
  readonly payTo?: Address
  readonly treasury?: Address
  readonly accepted?: Burned
  readonly late?: Burned & Minted
}
type Burned = { readonly value: string; readonly burn?: { readonly transaction: string } }
type Minted = { readonly mint?: { readonly transaction?: string; readonly value: string } }

/** Amounts by transaction. Several payments can be in one. */
type Book = Map<string, bigint>

const teleport = parseAbiItem('event Teleport(address indexed to, uint256 value)')
const transfer = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

/** Nodes refuse to search too many blocks at once. */
const blocksAtOnce = 10_000

const [file, rpcUrl, firstBlock = '0'] = process.argv.slice(2)
if (file === undefined || rpcUrl === undefined) {
  process.stderr.write('usage: reconcile EXPORT.json RPC_URL [FIRST_BLOCK]\n')
  process.exit(1)
}
const { token, payments }: Export = JSON.parse(readFileSync(file, 'utf8'))
const chain = createPublicClient({ transport: http(rpcUrl) })
const say = (line: string) => process.stdout.write(`${line}\n`)

const treasuries = distinct(payments.flatMap(({ treasury }) => treasury ?? []))
const payers = distinct(payments.flatMap(({ payer }) => payer ?? []))
let isGood = true
for (const treasury of treasuries) isGood = (await compareMints(treasury)) && isGood
// A provider sees the burns of payers that let it, and those only.
if (treasuries.length === 0) for (const payer of payers) isGood = (await compareBurns(payer)) && isGood
process.exitCode = isGood ? 0 : 1

async function compareMints(treasury: Address): Promise<boolean> {
  const own = payments.filter((payment) => payment.treasury === treasury)
  const mints = own.flatMap(({ mint, late }) => [mint, late?.mint].filter((each) => each !== undefined))
  const recorded: Book = new Map()
  for (const { transaction = 'unknown', value } of mints) add(recorded, transaction, value)
  const minted: Book = new Map()
  const events = await search((range) =>
    chain.getLogs({ address: token, event: teleport, args: { to: treasury }, strict: true, ...range }),
  )
  for (const { transactionHash, args } of events) add(minted, transactionHash, args.value)
  const waiting = own.filter(({ mint, accepted }) => accepted && !mint).map(({ accepted }) => accepted?.value)
  const isSame = compare(`minted to ${treasury}`, recorded, minted)
  say(`accepted and not minted yet: ${sumOf(waiting)} in ${waiting.length} payments`)
  await tellWhatLeft(treasury)
  return isSame
}

async function compareBurns(payer: Address): Promise<boolean> {
  const recorded: Book = new Map()
  const addresses = new Set<string>()
  for (const { payTo = '', accepted, late } of payments.filter((payment) => payment.payer === payer)) {
    addresses.add(payTo)
    for (const { value, burn } of [accepted, late].filter((each) => each !== undefined)) {
      if (burn) add(recorded, burn.transaction, value)
    }
  }
  const sent = await transfersOf(payer)
  const burned: Book = new Map()
  const burns = sent.filter(({ args }) => addresses.has(args.to))
  for (const { transactionHash, args } of burns) add(burned, transactionHash, args.value)
  const others = sent.filter(({ args }) => !addresses.has(args.to))
  const isSame = compare(`burned from ${payer}`, recorded, burned)
  say(`other transfers from it: ${sumOf(others.map(({ args }) => args.value))} in ${others.length} transfers`)
  return isSame
}

/** Fees, and what the provider took out. */
async function tellWhatLeft(treasury: Address): Promise<void> {
  const sent: Book = new Map()
  for (const { args } of await transfersOf(treasury)) add(sent, args.to, args.value)
  for (const [to, value] of sent) say(`sent on from it: ${value} to ${to}`)
}

/** Prints both sums and every transaction in which they differ. */
function compare(what: string, recorded: Book, found: Book): boolean {
  say(`${what}, by the history: ${sumOf(recorded.values())} in ${recorded.size} transactions`)
  say(`${what}, by the chain:   ${sumOf(found.values())} in ${found.size} transactions`)
  const differing = distinct([...recorded.keys(), ...found.keys()]).filter(
    (hash) => recorded.get(hash) !== found.get(hash),
  )
  for (const hash of differing) {
    say(
      `  differs: ${hash} has ${recorded.get(hash) ?? 0n} in the history, ${found.get(hash) ?? 0n} on the chain`,
    )
  }
  return differing.length === 0
}

function transfersOf(from: Address) {
  return search((range) =>
    chain.getLogs({ address: token, event: transfer, args: { from }, strict: true, ...range }),
  )
}

async function search<Log>(
  find: (range: { fromBlock: bigint; toBlock: bigint }) => Promise<readonly Log[]>,
): Promise<Log[]> {
  const last = Number(await chain.getBlockNumber())
  const found: Log[] = []
  for (let from = Number(firstBlock); from <= last; from += blocksAtOnce) {
    const to = Math.min(from + blocksAtOnce - 1, last)
    found.push(...(await find({ fromBlock: BigInt(from), toBlock: BigInt(to) })))
  }
  return found
}

function add(book: Book, key: string, value: string | bigint): void {
  book.set(key, (book.get(key) ?? 0n) + BigInt(value))
}

function sumOf(values: Iterable<string | bigint | undefined>): bigint {
  let sum = 0n
  for (const value of values) sum += BigInt(value ?? 0)
  return sum
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)]
}
