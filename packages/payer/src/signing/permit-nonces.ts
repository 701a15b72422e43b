/**
 * One permit nonce for one payment at a time.
 *
 * A permit is valid only with the token's live nonce, and the nonce moves when the burn is mined. Two
 * payments signed side by side would carry the same nonce, and one of them would fail. A payment therefore
 * holds the nonce it signed until its answer came, the chain shows a higher nonce, its deadline passed, or
 * the hold grew too old. The next payment with the same token waits until then. Only one of two payments with
 * the same nonce can burn, so a seller that never answers costs a wait and nothing else.
 */
import type { Address, ChallengeNonce } from '@svc-zerc20/protocol'
import type { Clock } from '../clock.js'
import type { PayerLimits } from '../limits.js'
import { PayerError } from '../payer-error.js'

export type PermitFacts = {
  readonly tokenName: string
  readonly nonce: bigint
  /** What the payer holds of the token, in base units. */
  readonly balance: bigint
}

export type PermitNonces = {
  /** Waits until no other payment holds the nonce of `token`, then holds it for `challengeNonce`. */
  hold(token: Address, challengeNonce: ChallengeNonce, deadline: number): Promise<PermitFacts>
  /**
   * Waits until the live nonce differs from the nonce of a refused permit. Rejects if it does not move in
   * time.
   */
  moved(token: Address, nonce: bigint): Promise<void>
  /** Lets the next payment go on. `consumed` says that the permit is known to have been used on chain. */
  release(challengeNonce: ChallengeNonce, consumed: boolean): void
}

type Hold = {
  readonly challengeNonce: ChallengeNonce
  readonly nonce: bigint
  readonly deadline: number
  readonly ended: AbortController
  readonly sinceMs: number
}

type Lane = {
  tail: Promise<unknown>
  hold: Hold | undefined
  /** Lowest nonce to sign after a consumed one, for nodes that lag behind the facilitator's. */
  floor: { readonly nonce: bigint; readonly untilMs: number } | undefined
  /** A nonce whose holder grew too old. Its next holder gets less time. */
  contested: bigint | undefined
}

export function createPermitNonces({
  readFacts,
  clock,
  limits,
}: {
  /** The token's name, and the live permit nonce and the balance of the payer. */
  readonly readFacts: (token: Address) => Promise<PermitFacts>
  readonly clock: Clock
  readonly limits: Pick<
    PayerLimits,
    'nonceHoldMsMax' | 'contestedHoldMsMax' | 'nonceMoveMsMax' | 'noncePollMs'
  >
}): PermitNonces {
  const lanes = new Map<Address, Lane>()

  const laneOf = (token: Address): Lane => {
    const known = lanes.get(token)
    if (known) return known
    const lane: Lane = { tail: Promise.resolve(), hold: undefined, floor: undefined, contested: undefined }
    lanes.set(token, lane)
    return lane
  }

  const holderOf = (challengeNonce: ChallengeNonce) =>
    [...lanes.values()].find((lane) => lane.hold?.challengeNonce === challengeNonce)

  const isTooOld = (hold: Hold, contested: bigint | undefined) =>
    clock.now() - hold.sinceMs >=
    (contested === hold.nonce ? limits.contestedHoldMsMax : limits.nonceHoldMsMax)

  const isOver = ({ hold, contested }: Lane, liveNonce: bigint) =>
    hold === undefined ||
    liveNonce > hold.nonce ||
    clock.now() >= hold.deadline * 1_000 ||
    isTooOld(hold, contested)

  async function take(lane: Lane, token: Address, challengeNonce: ChallengeNonce, deadline: number) {
    for (;;) {
      const facts = await readFacts(token)
      let { nonce } = facts
      if (lane.floor && clock.now() < lane.floor.untilMs && nonce < lane.floor.nonce) nonce = lane.floor.nonce
      if (isOver(lane, nonce)) {
        if (lane.hold?.nonce === nonce && isTooOld(lane.hold, lane.contested)) lane.contested = nonce
        lane.hold = { challengeNonce, nonce, deadline, ended: new AbortController(), sinceMs: clock.now() }
        return { ...facts, nonce }
      }
      await clock.sleep(limits.noncePollMs, lane.hold?.ended.signal)
    }
  }

  return {
    hold(token, challengeNonce, deadline) {
      const lane = laneOf(token)
      const turn = lane.tail.then(() => take(lane, token, challengeNonce, deadline))
      lane.tail = turn.catch(() => undefined)
      return turn
    },
    async moved(token, nonce) {
      const untilMs = clock.now() + limits.nonceMoveMsMax
      // If the nonce was ahead of the chain, a seller's answer had raised it, and the answer was wrong.
      laneOf(token).floor = undefined
      while ((await readFacts(token)).nonce === nonce) {
        if (clock.now() >= untilMs) {
          throw new PayerError('permit_nonce_unmoved', `the permit nonce of ${token} is still ${nonce}`)
        }
        await clock.sleep(limits.noncePollMs)
      }
    },
    release(challengeNonce, consumed) {
      const lane = holderOf(challengeNonce)
      if (!lane?.hold) return
      // The floor is bounded in time: a server that lies about a burn must not push this account past its
      // live nonce.
      if (consumed) {
        lane.floor = { nonce: lane.hold.nonce + 1n, untilMs: clock.now() + limits.nonceHoldMsMax }
      }
      lane.hold.ended.abort()
      lane.hold = undefined
    },
  }
}
