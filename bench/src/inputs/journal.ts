/** Writes journals of any size from the description of the format alone (docs/reference/journal-format.md). */
import { createHash } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'

export type JournalPlan = {
  readonly payments: number
  readonly openChallenges: number
  /** One record per payment, as compaction leaves them, or every step, as a running daemon writes them. */
  readonly form: 'compacted' | 'stepwise'
  readonly nowSeconds: number
  readonly treasury: string
  /** Chain, token and key that the journal belongs to. A daemon with others refuses it. */
  readonly binding: { readonly chainId: number; readonly token: string; readonly seed: string }
}

const burnsPerTransaction = 10
const rawBytesPerBurn = 450
const flushChars = 1 << 20

const bytes = (what: string, seed: number, length: number) =>
  `0x${createHash('sha512')
    .update(`${what} ${seed}`)
    .digest('hex')
    .slice(0, length * 2)}`

/** Returns how many records it wrote. */
export function writeJournal(path: string, plan: JournalPlan): number {
  const file = openSync(path, 'w', 0o600)
  let seq = 0
  let text = ''
  const write = (fields: object) => {
    seq += 1
    const covered = JSON.stringify({ v: 1, seq, ...fields }).slice(0, -1)
    text += `${covered},"crc":"${crc32(covered).toString(16).padStart(8, '0')}"}\n`
    if (text.length < flushChars) return
    writeSync(file, text)
    text = ''
  }
  write({ event: 'ledger_bound', binding: plan.binding })
  for (let first = 0; first < plan.payments; first += burnsPerTransaction) {
    const batch = Array.from({ length: burnsPerTransaction }, (_, i) => first + i)
    for (const record of plan.form === 'compacted'
      ? batch.map((i) => recorded(i, plan))
      : steps(batch, plan)) {
      write(record)
    }
  }
  for (let i = plan.payments; i < plan.payments + plan.openChallenges; i++) {
    write({ event: 'challenge_issued', challenge: challenge(i, plan) })
  }
  writeSync(file, text)
  closeSync(file)
  return seq
}

function challenge(i: number, { nowSeconds, treasury }: JournalPlan) {
  return {
    nonce: bytes('nonce', i, 32),
    payTo: bytes('payTo', i, 20),
    amount: `${1000 + i}`,
    listPrice: `${1000 + i}`,
    issuedAt: nowSeconds,
    expiresAt: nowSeconds + 300,
    deadline: nowSeconds + 300,
    powNonce: i,
    treasury,
    issuedAtBlock: `${i}`,
  }
}

const burn = (i: number) => ({
  txHash: bytes('transaction', Math.floor(i / burnsPerTransaction), 32),
  blockNumber: `${i}`,
  blockHash: bytes('block', i, 32),
  leafIndex: `${i}`,
  from: bytes('payer', i, 20),
  value: `${1000 + i}`,
})

const identity = (i: number) => bytes('identity', i, 16).slice(2)

const recorded = (i: number, plan: JournalPlan) => ({
  event: 'payment_recorded',
  challenge: challenge(i, plan),
  identity: identity(i),
  ticketed: true,
  burn: burn(i),
  at: plan.nowSeconds,
  granted: true,
})

/** Payments that were burned in one transaction. */
function* steps(batch: readonly number[], plan: JournalPlan): Iterable<object> {
  for (const i of batch) yield { event: 'challenge_issued', challenge: challenge(i, plan) }
  for (const i of batch) yield claimed(i, plan)
  const nonces = batch.map((i) => bytes('nonce', i, 32))
  const number = Math.floor((batch[0] ?? 0) / burnsPerTransaction)
  const raw = `0x02${'ab'.repeat(rawBytesPerBurn * batch.length)}`
  yield {
    event: 'burn_signed',
    nonces,
    transaction: { nonce: number, hash: bytes('transaction', number, 32), raw },
  }
  for (const i of batch) {
    yield { event: 'payment_accepted', nonce: bytes('nonce', i, 32), burn: burn(i), at: plan.nowSeconds }
  }
  for (const nonce of nonces) yield { event: 'grant_used', nonce }
}

function claimed(i: number, plan: JournalPlan) {
  const { nonce, amount, deadline } = challenge(i, plan)
  const [r, s] = [bytes('r', i, 32), bytes('s', i, 32)]
  const permit = { value: amount, nonce: '0', deadline: `${deadline}`, v: 27, r, s }
  const burnAuthSig = `${bytes('signature', i, 64)}1b`
  return {
    event: 'payment_claimed',
    nonce,
    identity: identity(i),
    ticketed: true,
    payload: { challengeNonce: nonce, payer: burn(i).from, permit, burnAuthSig },
  }
}
