/**
 * Finds every burn to this facilitator's addresses that is not finalized: burns in the ledger, burns that nobody
 * presented in time, and burns of payments whose records are lost.
 */

import {
  type Address,
  type ChallengeNonce,
  type TxHash,
  type UnixSeconds,
  unixSeconds,
} from '@svc-zerc20/protocol'
import type { DeriveAddress } from '../../addresses/derive.js'
import type { Books } from '../../payment/books.js'
import { type OnChainDeps, recordFound } from '../../payment/found/found-burn.js'
import { judgeTransfers } from '../../payment/found/judge-transfers.js'
import type { Ledger } from '../../payment/ledger-port.js'
import type { Clock } from '../../payment/ports.js'
import type { AddressEpoch, Burn, Challenge, RecordedPayment } from '../../payment/records.js'
import type { PaymentEvent } from '../../payment/report.js'
import { replaceClaimed } from '../../payment/settle/replace-claimed.js'

export type FoundBurn = {
  readonly nonce: ChallengeNonce
  readonly burn: Burn
  /** Where it was found: in the ledger, as a transfer to a known challenge, as a permit burner event, by a given nonce. */
  readonly source: 'journal' | 'transfer' | 'helper' | 'nonce'
  /**
   * Why it is not minted now: its payer may still present it, has presented it, a reorg removed it, or our own relayer
   * sent it and its address derives from nothing that is known here.
   */
  readonly leftAlone?: 'open' | 'claimed' | 'burn_lost' | 'underived'
}

/** A burn in an event of the permit burner. */
export type ExecutedBurn = Pick<Burn, 'txHash' | 'blockNumber' | 'blockHash' | 'from' | 'value'> & {
  readonly nonce: ChallengeNonce
  readonly payTo: Address
}

export type BurnSearch = {
  /** Balances of burn addresses, in order. Nobody can spend from them, so zero means that nothing ever arrived. */
  balances(addresses: readonly Address[]): Promise<readonly bigint[]>
  /**
   * The largest transfer to each address, always read from its receipt. Only one transfer of an address can be minted.
   */
  largestTransfers(
    payments: readonly Pick<Challenge, 'payTo' | 'issuedAtBlock'>[],
  ): Promise<ReadonlyMap<Address, Burn>>
  executedBurns(): AsyncIterable<ExecutedBurn>
  /** The senders of these transactions, in order; undefined for a transaction that the node does not have. */
  senders(transactions: readonly TxHash[]): Promise<readonly (Address | undefined)[]>
}

export type NonceAndValue = { readonly nonce: ChallengeNonce; readonly value: Burn['value'] }

export type FindBurnsDeps = OnChainDeps & {
  readonly ledger: Pick<Ledger, 'awaitingMint' | 'demoted' | 'recordLate' | 'find' | 'accept'> & {
    readonly books: Books
  }
  readonly search: BurnSearch
  readonly derive: DeriveAddress
  /** Proofs of work that addresses may have been mined with in the past, beside that of the configuration. */
  readonly otherPowBits: readonly number[]
  /** The account that relays our burns. */
  readonly relayer: Address
  /**
   * Epochs that the address of a burn at this time may have been made in, the likeliest first. Each costs a search for
   * proof of work. Empty where no address belongs to an epoch.
   */
  readonly epochsBefore: (at: UnixSeconds) => readonly AddressEpoch[]
  /** Whether burns of no epoch are minted. Needs no burn addresses, which would cost proof of work. */
  areMinted(burns: readonly NonceAndValue[]): Promise<readonly boolean[]>
  readonly treasury: Address
  /** A block at or before the first one that can hold a burn. */
  readonly firstBlock: bigint
  /** Follows the token's transfers to every issued address. Returns the burns that it recorded. */
  follow(): Promise<ReadonlySet<ChallengeNonce>>
  /** The timestamp of a block. */
  minedAt(blockNumber: bigint): Promise<UnixSeconds>
  /** Smaller transfers are not minted, unless they pay a challenge in full. */
  readonly dustBelow: bigint
  readonly clock: Pick<Clock, 'now'>
  readonly report: (event: PaymentEvent) => void
  readonly derivedAtOnceMax: number
  /** Prints one line about a long search. */
  readonly say: (line: string) => void
}

export async function findBurns(
  deps: FindBurnsDeps,
  nonces: readonly ChallengeNonce[],
): Promise<readonly FoundBurn[]> {
  const recorded = await onRecord(deps, await deps.follow())
  const paid = await paidUnnoticed(deps)
  const known = new Set([...recorded, ...paid].map(({ nonce }) => nonce))
  const unknown = await executedUnknown(deps, known)
  for (const { nonce } of unknown) known.add(nonce)
  return [...recorded, ...paid, ...unknown, ...(await ofNonces(deps, known, nonces))]
}

async function onRecord(
  { ledger }: FindBurnsDeps,
  followed: ReadonlySet<ChallengeNonce>,
): Promise<FoundBurn[]> {
  const found: FoundBurn[] = []
  for await (const { challenge, burn } of ledger.awaitingMint()) {
    const { nonce } = challenge
    found.push({ nonce, burn, source: followed.has(nonce) ? 'transfer' : 'journal' })
  }
  for await (const { challenge, burn } of ledger.demoted()) {
    found.push({ nonce: challenge.nonce, burn, source: 'journal', leftAlone: 'burn_lost' })
  }
  return found
}

/** Challenges whose address received tokens although no burn was accepted. */
async function paidUnnoticed(deps: FindBurnsDeps): Promise<FoundBurn[]> {
  const { ledger, search } = deps
  const pages = await Promise.all(
    (['open', 'expired'] as const).map((phase) =>
      ledger.books.page({ phase, limit: Number.POSITIVE_INFINITY }),
    ),
  )
  const unburned = pages.flatMap(({ payments }) => payments).filter(({ late, demoted }) => !late && !demoted)
  const balances = await search.balances(unburned.map(({ challenge }) => challenge.payTo))
  const paid = unburned.filter((_, i) => (balances[i] ?? 0n) > 0n)
  if (paid.length > 0) deps.say(`${paid.length} of ${unburned.length} unused addresses got a transfer`)
  const burns = await search.largestTransfers(paid.map(({ challenge }) => challenge))
  const found: FoundBurn[] = []
  for (const payment of paid) {
    const { challenge } = payment
    const burn = burns.get(challenge.payTo)
    if (!burn) continue
    if (await replaceClaimed(deps, challenge, payment, [burn])) {
      found.push({ nonce: challenge.nonce, burn, source: 'transfer' })
      continue
    }
    const leftAlone = whyLeftAlone(payment, deps.clock.now())
    if (!leftAlone && !(await recordUnnoticed(deps, payment, burn))) continue
    found.push({ nonce: challenge.nonce, burn, source: 'transfer', ...(leftAlone && { leftAlone }) })
  }
  return found
}

/** A burn that can still buy something is left to its payer: recorded as late, it would buy nothing. */
function whyLeftAlone({ claim, challenge }: RecordedPayment, nowMs: number): 'open' | 'claimed' | undefined {
  if (claim) return 'claimed'
  return nowMs < challenge.expiresAt * 1000 ? 'open' : undefined
}

/** False when it is too small for a mint. The block's timestamp decides whether it is late, not the time of the search. */
async function recordUnnoticed(deps: FindBurnsDeps, payment: RecordedPayment, burn: Burn): Promise<boolean> {
  const { challenge } = payment
  const verdict = judgeTransfers({
    challenge,
    payment,
    transfers: [{ ...burn, minedAt: await deps.minedAt(burn.blockNumber) }],
    now: deps.clock.now() / 1000,
    // The daemon is stopped, and the operator wants the money now.
    presentedLateSecondsMax: 0,
    dustBelow: deps.dustBelow,
    // Nothing was minted for this address yet.
    mintsSecond: false,
  })
  if (verdict.kind !== 'mint') return false
  await recordFound(deps, challenge, burn, verdict.reason)
  return true
}

/** Burns of the permit burner for challenges that the ledger does not know, because the journal was lost. */
async function executedUnknown(
  deps: FindBurnsDeps,
  known: ReadonlySet<ChallengeNonce>,
): Promise<FoundBurn[]> {
  const unknown: ExecutedBurn[] = []
  for await (const executed of deps.search.executedBurns()) {
    if (!known.has(executed.nonce) && !(await deps.ledger.find(executed.nonce))) unknown.push(executed)
  }
  const minted = await deps.areMinted(unknown)
  const left = unknown.filter((_, i) => !minted[i])
  if (left.length > 0)
    deps.say(`${left.length} burns of the helper are on no record: deriving their addresses`)
  // Facilitators can share a permit burner, so most of its burns may belong to others.
  const ours: FoundBurn[] = []
  for (let i = 0; i < left.length; i += deps.derivedAtOnceMax) {
    const some = left.slice(i, i + deps.derivedAtOnceMax)
    const found = await Promise.all(some.map((executed) => ownBurn(deps, executed)))
    ours.push(...found.flatMap((burn) => burn ?? []))
  }
  if (left.length > 0) deps.say(`${ours.length} of them are ours`)
  return [...ours, ...(await sentByUs(deps, left, ours))]
}

/**
 * Burns that our own relayer sent, and that do not derive under today's configuration. They are ours: their addresses were
 * mined with another proof of work, or under another key, treasury or generation.
 */
async function sentByUs(
  deps: FindBurnsDeps,
  all: readonly ExecutedBurn[],
  derived: readonly FoundBurn[],
): Promise<FoundBurn[]> {
  const known = new Set(derived.map(({ nonce }) => nonce))
  const rest = all.filter(({ nonce }) => !known.has(nonce))
  if (rest.length === 0) return []
  const senders = await deps.search.senders(rest.map(({ txHash }) => txHash))
  const own = rest.filter((_, i) => senders[i] === deps.relayer)
  if (own.length > 0) deps.say(`${own.length} others were sent by our relayer: trying other proofs of work`)
  const found: FoundBurn[] = []
  for (const executed of own) {
    let burn: FoundBurn | undefined
    for (const powBits of deps.otherPowBits) burn ??= await ownBurn(deps, executed, powBits)
    const { nonce, payTo: _, ...claimed } = executed
    found.push(
      burn ?? { nonce, burn: { ...claimed, leafIndex: 0n }, source: 'helper', leftAlone: 'underived' },
    )
  }
  return found
}

async function ownBurn(
  deps: FindBurnsDeps,
  executed: ExecutedBurn,
  powBits?: number,
): Promise<FoundBurn | undefined> {
  const { nonce } = executed
  const derived = await derivedTo(deps, executed, powBits)
  if (!derived) return undefined
  const claimed = { ...executed, leafIndex: 0n }
  const challenge = reconstruct(deps, { nonce, ...derived }, claimed)
  const current = await deps.reread(challenge, claimed)
  if (!current) return undefined
  await recordFound(deps, challenge, current.burn, 'unrecorded')
  return { nonce, burn: current.burn, source: 'helper' }
}

/** The derivation that gives the address of a burn; undefined when the burn is somebody else's. */
async function derivedTo(
  deps: FindBurnsDeps,
  { nonce, payTo, blockNumber }: ExecutedBurn,
  powBits: number | undefined,
): Promise<Derived | undefined> {
  const single = await deps.derive(nonce, undefined, powBits)
  if (single.payTo === payTo) return single
  for (const epoch of deps.epochsBefore(await deps.minedAt(blockNumber))) {
    const derived = await deps.derive(nonce, epoch, powBits)
    if (derived.payTo === payTo) return derived
  }
  return undefined
}

type Derived = Awaited<ReturnType<DeriveAddress>>

/** The derivation of a nonce to whose address something was paid, and the largest transfer there. */
async function paidAddress(
  deps: FindBurnsDeps,
  nonce: ChallengeNonce,
  powBits?: number,
): Promise<{ readonly derived: Derived; readonly burn: Burn } | undefined> {
  const now = unixSeconds(deps.clock)
  for (const epoch of [undefined, ...deps.epochsBefore(now)]) {
    const derived = await deps.derive(nonce, epoch, powBits)
    const { payTo } = derived
    const burn = (await deps.search.largestTransfers([{ payTo, issuedAtBlock: deps.firstBlock }])).get(payTo)
    if (burn) return { derived, burn }
  }
  return undefined
}

/** Self-transfers leave no challenge nonce on the chain, so the operator must give it. */
async function ofNonces(
  deps: FindBurnsDeps,
  known: ReadonlySet<ChallengeNonce>,
  nonces: readonly ChallengeNonce[],
): Promise<FoundBurn[]> {
  const found: FoundBurn[] = []
  for (const nonce of nonces) {
    if (known.has(nonce) || (await deps.ledger.find(nonce))) continue
    let paid = await paidAddress(deps, nonce)
    for (const powBits of deps.otherPowBits) paid ??= await paidAddress(deps, nonce, powBits)
    if (!paid) deps.say(`nothing was paid to the address of ${nonce}`)
    if (!paid) continue
    const { derived, burn } = paid
    const isSingle = derived.epoch === undefined
    const [minted] = isSingle ? await deps.areMinted([{ nonce, value: burn.value }]) : []
    if (minted) continue
    await recordFound(deps, reconstruct(deps, { nonce, ...derived }, burn), burn, 'unrecorded')
    found.push({ nonce, burn, source: 'nonce' })
  }
  return found
}

/** Rebuilds the part of a lost challenge that a mint needs. Its terms are unknown. */
function reconstruct(
  { treasury, clock }: FindBurnsDeps,
  derived: Pick<Challenge, 'nonce' | 'payTo' | 'powNonce' | 'epoch'>,
  { value, blockNumber }: Burn,
): Challenge {
  const now = unixSeconds(clock)
  return {
    ...derived,
    amount: value,
    listPrice: value,
    issuedAt: now,
    expiresAt: now,
    treasury,
    issuedAtBlock: blockNumber,
  }
}
