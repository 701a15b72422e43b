/**
 * Finds burns to this facilitator's addresses that its ledger does not know, because records were lost, and records them.
 * Everything else is the daemon's: it follows the transfers to every address on record, and mints.
 */

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import {
  type Address,
  type ChallengeNonce,
  type Clock,
  parseChallengeNonce,
  type UnixSeconds,
  unixSeconds,
} from '@svc-zerc20/protocol'
import type { DeriveAddress } from '../../addresses/address-maker.js'
import type { RereadBurn } from '../../payment/finalize/ports.js'
import { recordFound } from '../../payment/found/found-burn.js'
import type { Ledger } from '../../payment/ledger-port.js'
import type { AddressEpoch, Burn, Challenge } from '../../payment/records.js'
import type { Report } from '../../payment/report.js'
import { type BurnSearch, type ExecutedBurn, inParts } from './burn-search.js'

export type FoundBurn = Pick<Burn, 'txHash' | 'value'> & {
  readonly nonce: ChallengeNonce
  /** By what it was found: an event of the permit burner, or a nonce that the operator gave. */
  readonly source: 'helper' | 'nonce'
  /** False for a burn that our own relayer sent, and whose address derives from nothing that is known here. */
  readonly isRecorded: boolean
}

export type NonceAndValue = { readonly nonce: ChallengeNonce; readonly value: Burn['value'] }

export type FindBurnsDeps = {
  readonly ledger: Pick<Ledger, 'recordLate' | 'find'>
  readonly search: BurnSearch
  readonly reread: RereadBurn
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
  /** The timestamp of a block. */
  minedAt(blockNumber: bigint): Promise<UnixSeconds>
  readonly clock: Pick<Clock, 'now'>
  readonly report: Report
  readonly derivedAtOnceMax: number
  /** Prints one line about a long search. */
  readonly say: (line: string) => void
}

export async function findBurns(
  deps: FindBurnsDeps,
  nonces: readonly ChallengeNonce[],
): Promise<readonly FoundBurn[]> {
  const executed = await executedUnknown(deps)
  return [...executed, ...(await ofNonces(deps, nonces))]
}

/** Burns of the permit burner for challenges that the ledger does not know. Facilitators can share a permit burner. */
async function executedUnknown(deps: FindBurnsDeps): Promise<FoundBurn[]> {
  const unknown: ExecutedBurn[] = []
  for (const executed of await deps.search.executedBurns()) {
    if (!(await deps.ledger.find(executed.nonce))) unknown.push(executed)
  }
  const minted = await deps.areMinted(unknown)
  const left = unknown.filter((_, i) => !minted[i])
  if (left.length === 0) return []
  deps.say(`${left.length} burns of the helper are on no record: deriving their addresses`)
  const ours: FoundBurn[] = []
  const others: ExecutedBurn[] = []
  for (const some of inParts(left, deps.derivedAtOnceMax)) {
    const found = await Promise.all(some.map((executed) => recordOwn(deps, executed, [undefined])))
    ours.push(...found.flatMap((burn) => burn ?? []))
    others.push(...some.filter((_, i) => !found[i]))
  }
  deps.say(`${ours.length} of them are ours`)
  return [...ours, ...(await sentByUs(deps, others))]
}

/**
 * Burns that our own relayer sent, and that do not derive under today's configuration. They are ours: their addresses were
 * mined with another proof of work, or under another key or treasury.
 */
async function sentByUs(deps: FindBurnsDeps, executed: readonly ExecutedBurn[]): Promise<FoundBurn[]> {
  const senders = await deps.search.senders(executed.map(({ txHash }) => txHash))
  const own = executed.filter((_, i) => senders[i] === deps.relayer)
  if (own.length > 0) deps.say(`${own.length} others were sent by our relayer: trying other proofs of work`)
  const found: FoundBurn[] = []
  for (const one of own) {
    const { nonce, txHash, value } = one
    const underived: FoundBurn = { nonce, txHash, value, source: 'helper', isRecorded: false }
    found.push((await recordOwn(deps, one, deps.otherPowBits)) ?? underived)
  }
  return found
}

/** Undefined when the burn is somebody else's, or a reorg took it. */
async function recordOwn(
  deps: FindBurnsDeps,
  executed: ExecutedBurn,
  powBits: readonly (number | undefined)[],
): Promise<FoundBurn | undefined> {
  const { nonce, payTo, blockNumber } = executed
  for await (const derived of addressesOf(deps, nonce, () => deps.minedAt(blockNumber), powBits)) {
    if (derived.payTo !== payTo) continue
    const claimed = { ...executed, leafIndex: 0n }
    const challenge = reconstruct(deps, nonce, derived, claimed)
    const current = await deps.reread(challenge, claimed)
    return current && record(deps, challenge, current.burn, 'helper')
  }
  return undefined
}

/** Self-transfers leave no challenge nonce on the chain, so the operator must give it. */
async function ofNonces(deps: FindBurnsDeps, nonces: readonly ChallengeNonce[]): Promise<FoundBurn[]> {
  const found: FoundBurn[] = []
  for (const nonce of nonces) {
    if (await deps.ledger.find(nonce)) continue
    const paid = await paidAddress(deps, nonce)
    if (!paid) deps.say(`nothing was paid to the address of ${nonce}`)
    if (!paid) continue
    const { burn, challenge } = paid
    const [isMinted] = challenge.epoch ? [] : await deps.areMinted([{ nonce, value: burn.value }])
    if (!isMinted) found.push(await record(deps, challenge, burn, 'nonce'))
  }
  return found
}

async function paidAddress(
  deps: FindBurnsDeps,
  nonce: ChallengeNonce,
): Promise<{ readonly challenge: Challenge; readonly burn: Burn } | undefined> {
  const now = async () => unixSeconds(deps.clock)
  for await (const derived of addressesOf(deps, nonce, now, [undefined, ...deps.otherPowBits])) {
    const burn = await deps.search.largestTransfer(derived.payTo)
    if (burn) return { challenge: reconstruct(deps, nonce, derived, burn), burn }
  }
  return undefined
}

type Derived = Awaited<ReturnType<DeriveAddress>>

/** Every address that may have been made for a nonce. */
async function* addressesOf(
  deps: FindBurnsDeps,
  nonce: ChallengeNonce,
  paidAt: () => Promise<UnixSeconds>,
  powBits: readonly (number | undefined)[],
): AsyncIterable<Derived> {
  for (const bits of powBits) {
    yield deps.derive(nonce, undefined, bits)
    for (const epoch of deps.epochsBefore(await paidAt())) yield deps.derive(nonce, epoch, bits)
  }
}

/** Rebuilds the part of a lost challenge that a mint needs. Its terms are unknown. */
function reconstruct(
  { treasury, clock }: FindBurnsDeps,
  nonce: ChallengeNonce,
  derived: Derived,
  { value, blockNumber }: Burn,
): Challenge {
  const now = unixSeconds(clock)
  return {
    nonce,
    ...derived,
    amount: value,
    listPrice: value,
    issuedAt: now,
    expiresAt: now,
    treasury,
    issuedAtBlock: blockNumber,
  }
}

async function record(
  deps: FindBurnsDeps,
  challenge: Challenge,
  burn: Burn,
  source: FoundBurn['source'],
): Promise<FoundBurn> {
  await recordFound(deps, challenge, burn, 'unrecorded')
  const { txHash, value } = burn
  return { nonce: challenge.nonce, txHash, value, source, isRecorded: true }
}

/** Sellers name the field as they like, as long as the name ends so. */
const named = /nonce["']?\s*[:=]\s*["']?(0x[0-9a-f]{64})(?![0-9a-f])/gi

/**
 * The challenge nonces in a log of the daemon, or of a resource server that writes them: each once, in the order of the file.
 * Lines may be JSON or not. Throws where the file cannot be read.
 */
export async function loggedNonces(file: string): Promise<readonly ChallengeNonce[]> {
  const nonces = new Set<ChallengeNonce>()
  for await (const line of createInterface({
    input: createReadStream(file),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    for (const [, text] of line.matchAll(named)) {
      const nonce = parseChallengeNonce(text?.toLowerCase())
      if (nonce !== undefined) nonces.add(nonce)
    }
  }
  return [...nonces]
}
