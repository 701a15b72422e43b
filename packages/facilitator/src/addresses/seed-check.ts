/** Checks that the files of earlier runs were made with today's treasury key: under another key nothing can be minted. */
import { SvcError } from '@svc-zerc20/protocol'
import { burnAddressAt, deriveBurn, type Generation, seedFingerprint } from '@svc-zerc20/zk'
import type { Challenge } from '../payment/records.js'

export type SeedCheck = {
  /** Tells one seed from another, and is no secret. */
  readonly fingerprint: string
  /** Whether the address of a challenge derives from this seed. */
  derives(challenge: Challenge): boolean
}

/** The part of a journal that tells which seed it was written with. */
export type JournalContent = {
  binding(): { readonly seed?: string | undefined } | undefined
  challenges(): Iterable<Challenge>
}

const generations: readonly Generation[] = [1, 2]

/** Challenges that are tried before the key counts as wrong. A journal may hold some of a run with another key. */
const triedMax = 64

export function createSeedCheck(seed: Uint8Array, chainId: number): SeedCheck {
  return {
    fingerprint: seedFingerprint(seed),
    derives({ nonce, treasury, powNonce, payTo, epoch }) {
      return generations.some((generation) => {
        // The address does not depend on the proof of work that was asked for.
        const terms = { generation, powBits: 0, chainId, treasury, seed, challengeNonce: nonce, epoch }
        return burnAddressAt(deriveBurn(terms), powNonce)?.toLowerCase() === payTo
      })
    },
  }
}

/**
 * Throws `SvcError('seed_mismatch')`. A journal of an older version carries no fingerprint: then one of its addresses must
 * derive from the seed.
 */
export function assertSameSeed(state: JournalContent, seed: SeedCheck): void {
  const known = state.binding()?.seed
  if (known === seed.fingerprint) return
  if (known !== undefined) throw mismatch()
  let tried = 0
  for (const challenge of state.challenges()) {
    if (seed.derives(challenge)) return
    tried += 1
    if (tried === triedMax) break
  }
  if (tried > 0) throw mismatch()
}

const mismatch = () =>
  new SvcError(
    'seed_mismatch',
    'SVC_TREASURY_PK: is not the key that the journal was written with. The addresses in it do not derive from this ' +
      'key, so nothing that was paid to them could be minted. Put the old key back; a new key needs a journal of its ' +
      'own (settlement.journal)',
  )
