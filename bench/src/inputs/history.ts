/** Writes payment histories of any size from the description of the format alone (docs/reference/history-format.md). */
import { createHash } from 'node:crypto'
import { closeSync, openSync, renameSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'

export type HistoryPlan = {
  readonly records: number
  readonly nowSeconds: number
  readonly days: number
  readonly treasury: string
  /** The payer whose history is asked for. A third of the payments are this payer's. */
  readonly payer: string
  /** A full file gets a number, as the daemon does it. */
  readonly fileBytesMax: number
  /** Chain and token that the history belongs to. A daemon with others refuses it. */
  readonly binding: { readonly chainId: number; readonly token: string }
}

const otherPayers = 50_000
const paymentsPerRecord = 0.377
const flushChars = 1 << 20
const seqDigits = 15

const bytes = (what: string, seed: number, length: number) =>
  `0x${createHash('sha512')
    .update(`${what} ${seed}`)
    .digest('hex')
    .slice(0, length * 2)}`

/** Returns how many payments it wrote. */
export function writeHistory(path: string, plan: HistoryPlan): number {
  const lines = createLines(path, plan)
  let payments = 0
  while (lines.written() < plan.records) {
    for (const fields of turnsOf(payments, plan)) lines.write(fields)
    payments += 1
  }
  lines.end()
  return payments
}

function createLines(path: string, { binding, fileBytesMax }: HistoryPlan) {
  let file = openSync(path, 'w', 0o600)
  let [seq, firstSeq, fileBytes] = [0, 1, 0]
  let text = ''

  function line(fields: object): void {
    seq += 1
    const covered = JSON.stringify({ v: 1, seq, ...fields }).slice(0, -1)
    text += `${covered},"crc":"${crc32(covered).toString(16).padStart(8, '0')}"}\n`
    if (text.length >= flushChars) flush()
  }
  function flush(): void {
    fileBytes += writeSync(file, text)
    text = ''
    if (fileBytes < fileBytesMax) return
    closeSync(file)
    renameSync(path, `${path}.${`${firstSeq}`.padStart(seqDigits, '0')}`)
    file = openSync(path, 'w', 0o600)
    firstSeq = seq + 1
    fileBytes = 0
    line({ event: 'history_bound', ...binding })
  }

  line({ event: 'history_bound', ...binding })
  return {
    written: () => seq,
    write: line,
    end(): void {
      flush()
      closeSync(file)
    },
  }
}

/** Of twenty payments two are never paid, one is late and waits for its mint, and so do two accepted ones. */
function* turnsOf(i: number, plan: HistoryPlan): Iterable<object> {
  const share = i / (plan.records * paymentsPerRecord)
  const issuedAt = Math.floor(plan.nowSeconds - plan.days * 86_400 * (1 - Math.min(1, share))) - 1_000
  const nonce = bytes('nonce', i, 32)
  const amount = `${1_000 + ((i * 7_919) % 1_000_003)}`
  yield { event: 'challenged', challenge: challenge(i, { nonce, amount, issuedAt, treasury: plan.treasury }) }
  const kind = i % 10
  if (kind === 9) return
  const burn = burnOf(i, amount, plan.payer)
  if (kind === 8) yield { event: 'late', nonce, at: issuedAt + 400, reason: 'late', burn }
  else yield { event: 'accepted', nonce, at: issuedAt + 5, burn }
  if (kind === 7 || i % 20 === 8) return
  const mint = { txHash: bytes('mint', i, 32), blockNumber: `${i}`, value: amount }
  yield { event: 'finalized', nonce, at: issuedAt + 900, of: kind === 8 ? 'late' : 'accepted', mint }
}

function challenge(
  i: number,
  { issuedAt, ...given }: { nonce: string; amount: string; issuedAt: number; treasury: string },
) {
  const { nonce, amount, treasury } = given
  const expiresAt = issuedAt + 300
  return {
    nonce,
    payTo: bytes('payTo', i, 20),
    amount,
    listPrice: amount,
    issuedAt,
    expiresAt,
    deadline: expiresAt,
    powNonce: i,
    treasury,
    issuedAtBlock: `${i}`,
    ...(i % 2 === 0 && { fee: { amount: '25', bps: 250, chargeTo: 'payer' } }),
  }
}

const burnOf = (i: number, value: string, payer: string) => ({
  txHash: bytes('burn', i, 32),
  blockNumber: `${i}`,
  blockHash: bytes('block', i, 32),
  leafIndex: `${i}`,
  from: i % 3 === 0 ? payer : bytes('payer', i % otherPayers, 20),
  value,
})
