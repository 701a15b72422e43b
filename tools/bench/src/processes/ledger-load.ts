/** Takes payments through the ledger of a facilitator, on the disk, with a history and without a chain, and times its steps. */
import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStorage, parseConfig } from '@svc-zerc20/facilitator'
import type { Address, BaseUnits, ChallengeNonce, TxHash, UnixSeconds } from '@svc-zerc20/protocol'

export type LedgerRun = {
  readonly payments: number
  readonly seconds: number
  /** Times of the steps that the history tells: issued, accepted, finalized. */
  readonly stepsMs: readonly number[]
  /** Processor time of this process. */
  readonly cpuMs: number
}

type Ledger = Awaited<ReturnType<typeof openStorage>>['ledger']
type Paid = { readonly nonce: ChallengeNonce; readonly amount: BaseUnits }
type Timed = <T>(step: () => Promise<T>) => Promise<T>

const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`
const lower = (address: string) => address.toLowerCase() as Address
const amountOf = (payment: number) => (1_000n + BigInt(payment % 1_000_000)) as BaseUnits
const grantBoundMs = 1_000
const mintsBehind = 10

const clock = {
  now: () => Date.now(),
  sleep: (ms: number, signal?: AbortSignal) =>
    sleep(ms, undefined, { ...(signal && { signal }), ref: false }).catch(() => undefined),
}

/** Whose payments they are. */
export type LedgerParties = {
  readonly token: string
  readonly treasury: string
  readonly payer: string
  readonly seed: Uint8Array
}

const configOf = ({ token, treasury }: LedgerParties, journal: string, database: string | undefined) =>
  parseConfig(`profile = 'local'
[network]
rpc_url = 'http://127.0.0.1:1'
indexer_url = 'http://127.0.0.1:1'
decider_url = 'http://127.0.0.1:1'
chain_id = 31337
token = '${token}'
verifier = '${hex(20)}'
hub = '${hex(20)}'
[settlement]
treasury = '${treasury}'
journal = '${database === undefined ? journal : 'none'}'
[listen]
[daemon]
${
  database === undefined
    ? ''
    : `[storage]
url = '${database}'
`
}`)

const anybody = (): LedgerParties => ({
  token: hex(20),
  treasury: hex(20),
  payer: hex(20),
  seed: randomBytes(32),
})

/**
 * Always as many payers at once as asked for. Mints come later, as they do: a payer that has paid so often has its oldest
 * payment minted. The journal is new, and the history lies beside it. The time ends when everything is on the disk and closed.
 */
export async function runLedger(
  journal: string,
  plan: {
    readonly payments: number
    readonly atOnce: number
    /** A PostgreSQL database instead of the journal. */
    readonly database?: string
  },
  parties = anybody(),
): Promise<LedgerRun> {
  const storage = await openStorage({
    config: configOf(parties, journal, plan.database),
    clock,
    log(event) {
      if (event.event === 'ledger.failed') throw event.err
    },
    seed: parties.seed,
    history: { path: join(dirname(journal), 'history.jsonl') },
  })
  const stepsMs: number[] = []
  const timed: Timed = async (step) => {
    const startedAt = performance.now()
    const result = await step()
    stepsMs.push(performance.now() - startedAt)
    return result
  }
  const { ledger } = storage
  let left = plan.payments
  const payOn = async () => {
    const unminted: Paid[] = []
    for (; left > 0; ) {
      left -= 1
      unminted.push(await pay(ledger, timed, parties, amountOf(left)))
      const [oldest] = unminted.length > mintsBehind ? unminted.splice(0, 1) : []
      if (oldest) await mint(ledger, timed, oldest)
    }
    for (const paid of unminted) await mint(ledger, timed, paid)
  }
  const startedAt = performance.now()
  const cpu = process.cpuUsage()
  await Promise.all(Array.from({ length: plan.atOnce }, payOn))
  await storage.close()
  const { user, system } = process.cpuUsage(cpu)
  return {
    payments: plan.payments,
    seconds: (performance.now() - startedAt) / 1000,
    stepsMs,
    cpuMs: (user + system) / 1000,
  }
}

/** The steps of a payment whose payer sends the burn itself. */
async function pay(
  ledger: Ledger,
  timed: Timed,
  { treasury, payer }: LedgerParties,
  amount: BaseUnits,
): Promise<Paid> {
  const nonce = hex(32) as ChallengeNonce
  const burnTxHash = hex(32) as TxHash
  const issuedAt = Math.floor(Date.now() / 1000) as UnixSeconds
  const expiresAt = (issuedAt + 300) as UnixSeconds
  const times = { issuedAt, expiresAt, deadline: expiresAt, issuedAtBlock: 1n }
  const payTo = hex(20) as Address
  await timed(() =>
    ledger.issue({
      nonce,
      payTo,
      amount,
      listPrice: amount,
      ...times,
      powNonce: 0,
      treasury: lower(treasury),
    }),
  )
  await ledger.claim(nonce, { kind: 'self-transfer', challengeNonce: nonce, burnTxHash })
  const burn = { txHash: burnTxHash, blockNumber: 1n, blockHash: hex(32) as TxHash, leafIndex: 1n }
  await timed(() => ledger.accept(nonce, { ...burn, from: lower(payer), value: amount }))
  const grant = await ledger.takeGrant(nonce, grantBoundMs)
  if (typeof grant === 'string') throw new Error(`no grant: ${grant}`)
  await grant.use()
  return { nonce, amount }
}

async function mint(ledger: Ledger, timed: Timed, { nonce, amount }: Paid): Promise<void> {
  const minted = { txHash: hex(32) as TxHash, blockNumber: 2n, value: amount }
  await timed(() => ledger.finalize(nonce, minted, amount))
}
