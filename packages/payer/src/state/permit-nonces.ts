/**
 * One permit nonce for one payment at a time.
 *
 * A permit is valid only with the token's live nonce, and the nonce moves when the burn is mined. Two
 * payments signed side by side would carry the same nonce, and one of them would fail. A payment therefore
 * holds the nonce it signed until its answer came, the chain shows a higher nonce, its deadline passed, or
 * the hold grew too old. The next payment with the same token waits until then. Only one of two payments with
 * the same nonce can burn, so a seller that never answers costs a wait and nothing else. Processes that share a state folder
 * wait for each other in the same way.
 */
import { randomUUID } from 'node:crypto'
import { type Address, type ChallengeNonce, type Clock, createSerial, Json } from '@svc-zerc20/protocol'
import type { PayerLimits } from '../limits.js'
import { PayerError } from '../payer-error.js'
import { type Holder, holderNow, isGone } from './holder.js'
import type { Cell } from './versioned-file.js'

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
  release(challengeNonce: ChallengeNonce, consumed: boolean): Promise<void>
}

type Hold = {
  readonly challengeNonce: string
  readonly nonce: string
  readonly deadline: number
  readonly sinceMs: number
  readonly by: Holder
}

type Lane = {
  readonly hold?: Hold | undefined
  /** Lowest nonce to sign after a consumed one, for nodes that lag behind the facilitator's. */
  readonly floor?: { readonly nonce: string; readonly untilMs: number } | undefined
  /** A nonce whose holder grew too old. Its next holder gets less time. */
  readonly contested?: string | undefined
}

/** Who holds the permit nonces of an account, by token. */
export type PermitLanes = Readonly<Record<string, Lane>>

type Ports = {
  /** The token's name, and the live permit nonce and the balance of the payer. */
  readonly readFacts: (token: Address) => Promise<PermitFacts>
  /** Shared by all who sign for the account. */
  readonly lanes: Cell<PermitLanes>
  readonly clock: Clock
  readonly limits: Pick<
    PayerLimits,
    'nonceHoldMsMax' | 'contestedHoldMsMax' | 'nonceMoveMsMax' | 'noncePollMs'
  >
}

export function createPermitNonces({ readFacts, lanes, clock, limits }: Ports): PermitNonces {
  const id = randomUUID()
  const serials = new Map<Address, ReturnType<typeof createSerial>>()
  /** The holds of this process: a payment that waits for one in here learns of its end at once. */
  const own = new Map<string, { readonly token: Address; readonly ended: AbortController }>()

  async function change(token: Address, next: (lane: Lane) => Lane): Promise<Lane> {
    const after = await lanes.update((all = {}) => {
      const before = all[token] ?? {}
      const lane = next(before)
      return lane === before ? all : { ...all, [token]: lane }
    })
    return after[token] ?? {}
  }

  const isTooOld = ({ sinceMs, nonce }: Hold, contested: string | undefined) =>
    // A clock that was set back leaves a hold of the future behind.
    Math.abs(clock.now() - sinceMs) >=
    (contested === nonce ? limits.contestedHoldMsMax : limits.nonceHoldMsMax)

  const isOver = ({ hold, contested }: Lane, liveNonce: bigint) =>
    hold === undefined ||
    liveNonce > BigInt(hold.nonce) ||
    clock.now() >= hold.deadline * 1_000 ||
    isTooOld(hold, contested) ||
    isGone(hold.by, clock)

  const nextNonce = ({ floor }: Lane, live: bigint) =>
    floor && clock.now() < floor.untilMs && live < BigInt(floor.nonce) ? BigInt(floor.nonce) : live

  async function take(token: Address, challengeNonce: ChallengeNonce, deadline: number) {
    for (;;) {
      const facts = await readFacts(token)
      const { hold } = await change(token, (lane) => {
        const live = nextNonce(lane, facts.nonce)
        if (!isOver(lane, live)) return lane
        const nonce = `${live}`
        const isContested = lane.hold?.nonce === nonce && isTooOld(lane.hold, lane.contested)
        const by = holderNow(id, clock)
        const next = { challengeNonce, nonce, deadline, sinceMs: clock.now(), by }
        return { ...lane, contested: isContested ? nonce : lane.contested, hold: next }
      })
      if (hold?.challengeNonce === challengeNonce && hold.by.id === id) {
        own.set(challengeNonce, { token, ended: new AbortController() })
        return { ...facts, nonce: BigInt(hold.nonce) }
      }
      await clock.sleep(limits.noncePollMs, own.get(hold?.challengeNonce ?? '')?.ended.signal)
    }
  }

  return {
    hold(token, challengeNonce, deadline) {
      const serial = serials.get(token) ?? createSerial()
      serials.set(token, serial)
      return serial(() => take(token, challengeNonce, deadline))
    },
    async moved(token, nonce) {
      const untilMs = clock.now() + limits.nonceMoveMsMax
      // If the nonce was ahead of the chain, a seller's answer had raised it, and the answer was wrong.
      await change(token, (lane) => (lane.floor ? { ...lane, floor: undefined } : lane))
      while ((await readFacts(token)).nonce === nonce) {
        if (clock.now() >= untilMs) {
          throw new PayerError('permit_nonce_unmoved', `the permit nonce of ${token} is still ${nonce}`)
        }
        await clock.sleep(limits.noncePollMs)
      }
    },
    async release(challengeNonce, consumed) {
      const held = own.get(challengeNonce)
      if (!held) return
      own.delete(challengeNonce)
      await change(held.token, (lane) => {
        if (lane.hold?.challengeNonce !== challengeNonce || lane.hold.by.id !== id) return lane
        // The floor is bounded in time: a server that lies about a burn must not push this account past its
        // live nonce.
        const nonce = `${BigInt(lane.hold.nonce) + 1n}`
        const floor = consumed ? { nonce, untilMs: clock.now() + limits.nonceHoldMsMax } : lane.floor
        return { ...lane, floor, hold: undefined }
      })
      held.ended.abort()
    },
  }
}

/** Reads the state that a cell kept. */
export function parsePermitLanes(raw: unknown): PermitLanes | undefined {
  return Json.isObject(raw) && Object.values(raw).every(isLane) ? (raw as PermitLanes) : undefined
}

const isNonce = (value: unknown) => typeof value === 'string' && /^\d{1,78}$/.test(value)
const isUnsetOr = (value: unknown, test: (value: Json.JsonObject) => boolean) =>
  value === undefined || (Json.isObject(value) && test(value))
const isLane = (value: unknown) =>
  Json.isObject(value) &&
  (value.contested === undefined || isNonce(value.contested)) &&
  isUnsetOr(value.floor, ({ nonce, untilMs }) => isNonce(nonce) && typeof untilMs === 'number') &&
  isUnsetOr(
    value.hold,
    ({ nonce, deadline, sinceMs, by }) =>
      isNonce(nonce) && [deadline, sinceMs].every((each) => typeof each === 'number') && Json.isObject(by),
  )
