/**
 * Proofs that daemons of one ledger make for each other. The daemon that mints offers those for which its own processes have
 * no time; another one takes an offer, proves and gives the proof.
 */
import type { Batch } from '../epochs/ports.js'
import type { AwaitingMint } from '../records.js'
import type { ProvedRoot } from './ports.js'

/** The subject of a proof: facts of the ledger and the chain. The prover derives the secrets itself. */
export type ProofJob =
  | { readonly root: ProvedRoot; readonly payment: AwaitingMint }
  | { readonly root: ProvedRoot; readonly batch: Batch }

export type ProofOffer = {
  /** `free`: nobody proves it, or its prover is dead. `gone`: its prover gave up. Words are an unverified proof. */
  poll(): Promise<'free' | 'taken' | 'gone' | { readonly words: readonly bigint[] }>
  /** Nobody waits for it any more. */
  end(): Promise<void>
}

export type TakenJob = {
  readonly job: ProofJob
  /** Nothing happens once somebody else has taken the job. */
  give(words: readonly bigint[]): Promise<void>
  giveUp(): Promise<void>
}

export type ProofJobs = {
  /** Undefined while there is no other daemon. */
  offer(job: ProofJob): Promise<ProofOffer | undefined>
  /** The job is this daemon's until it gives or gives up, or until it is silent for as long as a lease runs. */
  take(): Promise<TakenJob | undefined>
}
