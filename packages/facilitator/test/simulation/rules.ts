/** Rules that must hold at every moment of a simulation, and at its end. */
import type { Address, ChallengeNonce } from '@svc-zerc20/protocol'
import type { Burn } from '../../src/payment/records.js'
import type { StepName } from '../../src/store/group.js'
import { type Block, type Chain, helper, type Leaf } from './chain.js'
import type { Terms } from './daemon.js'
import type { Sent } from './node.js'
import type { Process } from './timeline.js'

/** A purchase as the simulation knows it, whatever the facilitators believe. */
export type Purchase = {
  readonly nonce: ChallengeNonce
  readonly payTo: Address
  readonly amount: bigint
  readonly expiresAt: number
  /** The end of its permit. */
  readonly deadline: number
  readonly kind: string
  /** Answers with success that reached the payer. */
  readonly served: { readonly process: Process; readonly atMs: number }[]
  /** The payer goes on until it has an answer that ends it. */
  end?: string
}

export type Rules = ReturnType<typeof createRules>

/** How long after a reorg a burn that it took may still be believed in: looks, confirmations, and rounds. */
const noticedMs = 90_000

class Violation extends Error {}

export function createRules(deps: {
  readonly chain: Chain
  readonly now: () => number
  readonly terms: Terms
  readonly sender: (address: Address) => boolean
}) {
  const { chain, now, terms } = deps
  const purchases = new Map<ChallengeNonce, Purchase>()
  const calls = new Map<string, Sent>()
  const usurped = new Set<string>()
  const released = new Set<ChallengeNonce>()
  const usedAtMs = new Map<ChallengeNonce, number>()
  const accepted = new Set<ChallengeNonce>()
  const demoted = new Set<ChallengeNonce>()
  /** Account and txNonce of the transaction that a payment was last accepted for. */
  const heldBy = new Map<ChallengeNonce, string>()
  /** Tried again after a reorg may have taken the burn, so that it is sent again though the old transaction comes back. */
  const insisted = new Set<ChallengeNonce>()
  /** Burns that the daemon takes up by itself, because their run broke off. */
  const brokenOff = new Set<ChallengeNonce>()
  const signedAtMs = new Map<ChallengeNonce, number>()
  let reorgedAtMs = Number.NEGATIVE_INFINITY
  let highest = 0
  const found: Violation[] = []

  function broken(what: string): void {
    found.push(new Violation(what))
  }

  /** The transfer that a burn of the ledger speaks of, on whatever branch. */
  const leafOf = (payTo: Address, burn: Burn) =>
    chain
      .leavesEver(payTo)
      .find(
        ({ txHash, block, leafIndex, value }) =>
          txHash === burn.txHash &&
          block.hash === burn.blockHash &&
          BigInt(leafIndex) === burn.leafIndex &&
          value === burn.value,
      )

  /** Whether the burns of a call are on the chain. A start that finds them accepted takes their transaction for done. */
  const isVoid = ({ from, txNonce, to, data }: Sent) =>
    to === helper
      ? chain.readBurns(data).every(
          ({ authorization: { challengeNonce } }) =>
            // Released, or executed by somebody else, in a block that a reorg deeper than the confirmations took.
            released.has(challengeNonce) ||
            (heldBy.get(challengeNonce) ?? `${from}/${txNonce}`) !== `${from}/${txNonce}` ||
            chain.isExecuted(chain.tip(), challengeNonce),
        )
      : chain.mintedAt(chain.tip(), data.slice(0, 66) as ChallengeNonce) > 0n

  function onAccepted(nonce: ChallengeNonce, burn: Burn): void {
    if (accepted.has(nonce)) broken(`${nonce} is accepted twice`)
    accepted.add(nonce)
    demoted.delete(nonce)
    const purchase = purchases.get(nonce)
    const leaf = purchase && leafOf(purchase.payTo, burn)
    if (!leaf) {
      broken(`${nonce} is accepted for a burn that no block ever held`)
      return
    }
    const { transaction } = leaf.block.mined.find((each) => each.transaction.hash === burn.txHash) ?? {}
    if (transaction) heldBy.set(nonce, `${transaction.from}/${transaction.txNonce}`)
    if (leaf.value < purchase.amount) broken(`${nonce} is accepted for ${leaf.value} of ${purchase.amount}`)
    if (highest - leaf.block.number + 1 < terms.confirmations) {
      broken(`${nonce} is accepted before its burn has ${terms.confirmations} confirmations`)
    }
  }

  function onSigned(nonces: readonly ChallengeNonce[]): void {
    for (const nonce of nonces) {
      if (brokenOff.has(nonce)) onTriedAgain(nonce)
      signedAtMs.set(nonce, now())
    }
  }

  /** A payer whose claim is released was told that nothing happens: no bytes may be out that still burn its tokens. */
  function onReleased(nonce: ChallengeNonce): void {
    released.add(nonce)
    const tip = chain.tip()
    const isOut = ({ from, txNonce, to, data }: Sent) =>
      to === helper &&
      !usurped.has(`${from}/${txNonce}`) &&
      chain.usedAt(tip, from) <= txNonce &&
      carries(data)
    const carries = (data: Sent['data']) =>
      chain
        .readBurns(data)
        .some(
          ({ authorization }) =>
            authorization.challengeNonce === nonce && authorization.deadline >= BigInt(tip.time),
        )
    const isShaken = reorgedAtMs > (signedAtMs.get(nonce) ?? Number.POSITIVE_INFINITY)
    if (!isShaken && [...calls.values()].some(isOut)) broken(`${nonce} is released while its burn is out`)
    const isRelayed = ({ txHash, block }: Leaf) =>
      block.mined.some(({ transaction: { hash, from } }) => hash === txHash && deps.sender(from))
    const { payTo } = purchases.get(nonce) ?? {}
    if (!isShaken && payTo && chain.leavesAt(tip, payTo).some(isRelayed))
      broken(`${nonce} is released though a facilitator burned it`)
  }

  /** Where the store refused the record of a burn, the ledger does not even know that a block held it. */
  function onTriedAgain(nonce: ChallengeNonce): void {
    const isShaken = reorgedAtMs > (signedAtMs.get(nonce) ?? Number.POSITIVE_INFINITY)
    if (demoted.has(nonce) || isShaken) insisted.add(nonce)
  }

  return {
    purchases,
    /** The first thing that did not hold. */
    violation: () => found[0],
    broken,

    onBlock(what: string, { number }: Block): void {
      if (what !== 'block') reorgedAtMs = now()
      highest = Math.max(highest, number)
    },

    onBrokenOff: (nonce: ChallengeNonce) => void brokenOff.add(nonce),

    onUsurped: (account: Address, txNonce: number) => void usurped.add(`${account}/${txNonce}`),

    onStep(name: StepName, args: readonly unknown[], outcome: unknown): void {
      if (name === 'accept' && (outcome === 'accepted' || outcome === 'accepted_again')) {
        onAccepted(args[0] as ChallengeNonce, args[1] as Burn)
      }
      if (name === 'recordSigned') onSigned(args[1] as readonly ChallengeNonce[])
      if (outcome === 'released') onReleased(args[0] as ChallengeNonce)
      if (name === 'demote' && outcome === 'demoted') {
        accepted.delete(args[0] as ChallengeNonce)
        demoted.add(args[0] as ChallengeNonce)
      }
      if (outcome === 'same_payload') onTriedAgain(args[0] as ChallengeNonce)
      if (name !== 'useGrants') return
      for (const nonce of args[0] as readonly ChallengeNonce[]) {
        if (!usedAtMs.has(nonce)) usedAtMs.set(nonce, now())
      }
    },

    /** A txNonce that bytes were sent for belongs to their call, until somebody else uses it, or did what the call does. */
    onSent(sent: Sent): void {
      const { from, txNonce, to, data } = sent
      const key = `${from}/${txNonce}`
      if (data === '0x') return
      const before = calls.get(key)
      const isOther = before && (before.to !== to || before.data !== data)
      if (isOther && !usurped.has(key) && !isVoid(before)) {
        broken(`two calls were sent with txNonce ${txNonce} of ${from}`)
      }
      calls.set(key, sent)
    },

    /** A success reached a payer. `askedMs`: when it had asked for it. */
    onServed(
      purchase: Purchase,
      txHash: string,
      { askedMs, process }: { askedMs: number; process: Process },
    ): void {
      const { nonce, payTo, amount, served } = purchase
      const isUsed = (usedAtMs.get(nonce) ?? Number.POSITIVE_INFINITY) < askedMs
      if (isUsed) broken(`${nonce} is granted again`)
      // Only a process that died between its answer and the record of it leaves the grant to another (ADR 0002).
      if (served.some((before) => before.process.isAlive())) broken(`${nonce} is granted twice at once`)
      const isHeld = chain
        .leavesAt(chain.tip(), payTo)
        .some((leaf) => leaf.txHash === txHash && leaf.value >= amount)
      if (!isHeld && now() - reorgedAtMs > noticedMs)
        broken(`${nonce} is granted without a burn on the chain`)
      served.push({ process, atMs: now() })
    },

    /** Burns that the senders of the facilitators paid for twice. */
    checkRelayedOnce(): void {
      const executed = new Map<ChallengeNonce, number>()
      for (const { mined } of chain.tip().path) {
        for (const { transaction, receipt } of mined) {
          const { call, from, txNonce } = transaction
          if (call.kind !== 'burns' || !deps.sender(from)) continue
          const done = new Set(
            receipt.logs.filter(({ topics }) => topics.length === 4).map(({ topics }) => topics[1]),
          )
          for (const { authorization } of call.requests) {
            const { challengeNonce } = authorization
            const before = executed.get(challengeNonce)
            // A burn that had failed in one block, and is tried again, may succeed in the block of a reorg.
            const isExcused =
              released.has(challengeNonce) || insisted.has(challengeNonce) || usurped.has(`${from}/${before}`)
            if (before !== undefined && !isExcused) {
              broken(`${challengeNonce} is burned by txNonce ${before} and relayed again by ${txNonce}`)
            }
            if (done.has(challengeNonce)) executed.set(challengeNonce, txNonce)
          }
        }
      }
    },

    leafOf,
  }
}
