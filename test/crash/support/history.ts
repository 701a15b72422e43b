/** Reads a payment history by its documented format, without any code of the daemon, and compares it with the chain. */
import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { MadePayment } from './client.js'
import { recordsIn } from './journal.js'
import type { CrashNetwork } from './network.js'

type Entry = {
  readonly event: string
  /** Of the event that it tells. */
  readonly number?: number
  readonly challengeNonce?: string
  readonly challenge?: { readonly nonce: string; readonly payTo: string }
  readonly burn?: { readonly txHash: string; readonly from: string; readonly value: string }
  readonly mint?: { readonly value: string }
}

/** All turns, in order. */
export function readHistory(path: string): readonly Entry[] {
  const [bound, ...entries] = recordsIn(readFileSync(path, 'utf8'), 1)
  expect(bound?.event).toBe('history_bound')
  return entries as unknown as Entry[]
}

/** Whether a reorg left this turn as it is told. */
function isNotUndone(entry: Entry, i: number, all: readonly Entry[]): boolean {
  if (entry.event === 'moved' || entry.event === 'demoted') return false
  if (entry.event !== 'accepted') return true
  const next = all
    .slice(i + 1)
    .find(({ event, challengeNonce }) => challengeNonce === entry.challengeNonce && event !== 'moved')
  return next?.event !== 'demoted'
}

const sum = (values: readonly (bigint | undefined)[]) =>
  values.reduce<bigint>((total, value) => total + (value ?? 0n), 0n)

/**
 * Every payment has each of its records once, and the records of each payer add up to its burns on the chain. `minted`:
 * all payments are minted, and their mints add up to those of the chain. `reorgs`: acceptances may have been taken back,
 * and burns moved. Call it after an orderly stop, or when nothing more happens.
 */
export async function expectHistory(
  net: Pick<CrashNetwork, 'historyFile' | 'transfers' | 'mints'>,
  payments: readonly MadePayment[],
  { minted = false, reorgs = false } = {},
): Promise<void> {
  const told = readHistory(net.historyFile)
  const entries = reorgs ? told.filter(isNotUndone) : told
  const of = (nonce: string) =>
    entries
      .filter((entry) => (entry.challengeNonce ?? entry.challenge?.nonce) === nonce)
      .map(({ event }) => event)
  const turns = ['challenged', 'accepted', ...(minted ? ['finalized'] : [])]
  for (const { offer } of payments) {
    expect(of(offer.challengeNonce), `history of ${offer.challengeNonce}`).toEqual(turns)
  }
  const issued = entries.filter(({ event }) => event === 'challenged')
  expect(new Set(issued.map(({ challenge }) => challenge?.nonce)).size).toBe(issued.length)

  const addresses = new Set(issued.map(({ challenge }) => challenge?.payTo))
  const transfers = (await net.transfers()).filter(({ args }) => addresses.has(args.to?.toLowerCase()))
  const accepted = entries.filter(({ event }) => event === 'accepted')
  for (const payer of new Set(payments.map(({ account }) => account.address.toLowerCase()))) {
    const burned = transfers.filter(({ args }) => args.from?.toLowerCase() === payer)
    const recorded = accepted.filter(({ burn }) => burn?.from === payer)
    expect(sum(recorded.map(({ burn }) => BigInt(burn?.value ?? 0)))).toBe(
      sum(burned.map(({ args }) => args.value)),
    )
  }
  expect(accepted.map(({ burn }) => burn?.txHash).sort()).toEqual(
    transfers.map(({ transactionHash }) => transactionHash).sort(),
  )
  if (minted) {
    const recorded = entries.map(({ event, mint }) => (event === 'finalized' ? BigInt(mint?.value ?? 0) : 0n))
    expect(sum(recorded)).toBe(sum((await net.mints()).map(({ args }) => args.value)))
  }
}
