/** The ports of finalization, beside those of the payment flow. */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Epoch } from '../epochs/epoch.js'
import type { MintCall } from '../ports.js'
import type { AwaitingMint, Burn, Challenge, Mint } from '../records.js'

/** The newest root that the verifier has proved, and whether it mints at all at the moment. */
export type ProvedRoot = {
  /** Leaves under the root. */
  readonly size: bigint
  readonly root: bigint
  readonly isPaused: boolean
}

/**
 * How far the verifier has minted a payment. `shallow`: the whole value, in a block that a reorg could still
 * take back.
 */
export type MintState = 'due' | 'shallow' | 'minted'

/** The part of a payment that tells how much of it is minted: neither its address nor its leaf. */
export type Mintable = {
  readonly challenge: Pick<Challenge, 'nonce' | 'treasury' | 'powNonce' | 'epoch'>
  readonly burn: Pick<Burn, 'value'>
}

export type MintVerifier = {
  latestRoot(): Promise<ProvedRoot>
  /** One state per payment, in order. */
  mintStates(payments: readonly Mintable[]): Promise<readonly MintState[]>
  /** The mint by its event, whoever sent it; undefined when the node shows none. */
  findMint(payment: AwaitingMint): Promise<Mint | undefined>
}

/**
 * The burn as the chain has it now, even if a reorg moved it, and the blocks that hold it, its own included.
 * Undefined when no block holds it. Throws when the node cannot tell.
 */
export type RereadBurn = (
  challenge: Challenge,
  burn: Burn,
) => Promise<{ readonly burn: Burn; readonly depth: number } | undefined>

/**
 * Proves a mint, with fresh randomness in every proof. The path was checked against the root. Throws when the
 * mint cannot be proved now.
 */
export type ProveMint = (payment: AwaitingMint, root: ProvedRoot, signal: AbortSignal) => Promise<MintCall>

/** A payment with its own proof, or an epoch whose payments are minted together. */
export type MintTurn = ChallengeNonce | Epoch

/** What chance says of one mint of an epoch, each in [0, 1): its moment, and the end of its proof. */
export type Draws = { readonly time: number; readonly place: number }

/** The turn of an epoch. */
export type Turn = {
  /** Its payments are minted from then on, if they are still a company. Undefined while they gather. */
  readonly dueAtMs?: number | undefined
  /** The last try failed too recently. */
  readonly isResting: boolean
  /** They stay until a proof is mined: two ends would show what lies between them. */
  readonly draws: Draws
  /** Payments that are minted at once. */
  readonly asked: ReadonlySet<ChallengeNonce>
}

/**
 * When the mint of each payment and of each epoch may be tried: after its delay, and later after each failure.
 * Facilitators that finalize the same payments share one schedule; each question may be a round trip to a store. Two of
 * them may be told that a payment is due at the same moment: the verifier mints no burn twice, so a race costs a proof and no
 * money. A schedule that is lost costs no money either: delays begin again, and failed payments are tried at once.
 */
export type MintSchedule = {
  /**
   * Payments with their own proof whose mint may be tried now, about oldest burn first and at most `countMax`; all that
   * are held back for a random time; and all that await a mint. The first look at a payment draws its delay, which then
   * stays the same for everybody who asks.
   */
  plan(countMax: number): Promise<{
    readonly due: readonly AwaitingMint[]
    readonly delayed: readonly ChallengeNonce[]
    readonly single: readonly ChallengeNonce[]
  }>
  /** The first look at an epoch draws. */
  turnOf(epoch: Epoch): Promise<Turn>
  /** Remembers the moment from which on an epoch is minted, or that it gathers again. */
  setDue(epoch: Epoch, dueAtMs: number | undefined): Promise<void>
  /** Failures in a row, and whether the last one was too recent to try again. Draws no delay. */
  failuresOf(challengeNonce: ChallengeNonce): Promise<{ readonly count: number; readonly isResting: boolean }>
  /** Counts a failure: the payment or the epoch rests, longer each time up to a bound. */
  failed(of: MintTurn): Promise<void>
  /** A try went well: the payment does not rest, and its failures are counted from zero again. Its delay stays over. */
  succeeded(challengeNonce: ChallengeNonce): Promise<void>
  /** The payment is due at once, without delay and without rest. Its epoch need not be a company. */
  mintNow(challengeNonce: ChallengeNonce): Promise<void>
  /**
   * Forgets a payment that has nothing left to mint, or whose burn is gone, and an epoch that was minted. Another burn begins
   * again.
   */
  forget(of: MintTurn): Promise<void>
}
