/**
 * What the senders of transactions give away. An account that sends both burns and mints belongs to one facilitator, so
 * its mints pay its burns. Mints from a key of their own are not safe either: a facilitator mints what it burned, so the
 * observer pairs the minting account with the relaying account whose total fits.
 */
import type { Mint, Transfer } from '../chain-view.js'

export type SenderRule = (mint: Mint, burn: Transfer) => boolean

/** Totals of two accounts of one facilitator differ only by payments that are not minted yet. */
const totalsFit = 0.8

const isRelayed = ({ from, sender }: Transfer): boolean => from !== sender

export function readSenders(mints: readonly Mint[], burns: readonly Transfer[]): SenderRule {
  const relayed = totals(burns.filter(isRelayed))
  const minted = totals(mints)
  const relayerOf = pairAccounts(minted, relayed)
  const claimed = new Set(relayerOf.values())
  return (mint, burn) => {
    // The payer sent it, so the sender says nothing about the facilitator.
    if (!isRelayed(burn)) return true
    const relayer = relayerOf.get(mint.sender)
    // The facilitator of this mint is unknown: every relayer counts that nobody else has.
    return relayer === undefined ? !claimed.has(burn.sender) : burn.sender === relayer
  }
}

/** Minting account → relaying account of the same facilitator. */
function pairAccounts(
  minted: ReadonlyMap<string, bigint>,
  relayed: ReadonlyMap<string, bigint>,
): ReadonlyMap<string, string> {
  const pairs = new Map([...minted.keys()].filter((account) => relayed.has(account)).map((a) => [a, a]))
  const free = <T>(totals: ReadonlyMap<string, T>) => [...totals].filter(([account]) => !pairs.has(account))
  const fits = free(minted)
    .flatMap(([minter, sum]) =>
      free(relayed).map(([relayer, total]) => ({ minter, relayer, fit: fitOf(sum, total) })),
    )
    .filter(({ fit }) => fit >= totalsFit)
    .toSorted((one, other) => other.fit - one.fit)
  const taken = new Set(pairs.values())
  for (const { minter, relayer } of fits) {
    if (pairs.has(minter) || taken.has(relayer)) continue
    pairs.set(minter, relayer)
    taken.add(relayer)
  }
  return pairs
}

/** 1 for equal totals. A facilitator mints no more than it burned, unless payers sent burns themselves. */
const fitOf = (one: bigint, other: bigint): number =>
  one < other ? Number(one) / Number(other) : Number(other) / Number(one)

function totals(items: readonly { readonly sender: string; readonly value: bigint }[]): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const { sender, value } of items) sums.set(sender, (sums.get(sender) ?? 0n) + value)
  return sums
}
