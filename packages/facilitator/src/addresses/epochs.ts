/**
 * Epochs: stretches of time in which addresses are made, each named by its first unix second. Addresses of an epoch and a
 * treasury share the recipient hash, and are minted together.
 */
import type { Config } from '../config/config.js'
import type { AddressEpoch } from '../payment/records.js'

/** The epoch of an address that is made at a time; undefined while every payment is minted by its own proof. */
export function epochsOf(
  { finalize }: Config,
  ledger: string,
): ((nowMs: number) => AddressEpoch) | undefined {
  if (finalize.mode === 'single') return undefined
  return (nowMs) => ({ ledger, start: epochStart(nowMs / 1000, finalize.epoch_seconds) })
}

const epochStart = (at: number, length: number): number => Math.floor(at / length) * length

/**
 * Every epoch in which the address of a payment may have been made, the latest first: addresses are made ahead, and may
 * wait for their payment for any time. `since` is when the token began.
 */
export function epochsBefore(
  { finalize }: Config,
  ledgers: readonly string[],
  since: number,
): (at: number) => readonly AddressEpoch[] {
  const length = finalize.epoch_seconds
  return (at) => {
    const last = epochStart(at, length)
    const count = Math.max(0, (last - epochStart(since, length)) / length + 1)
    return Array.from({ length: count }, (_, i) => last - i * length).flatMap((start) =>
      ledgers.map((ledger) => ({ ledger, start })),
    )
  }
}
