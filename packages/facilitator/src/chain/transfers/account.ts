/**
 * Takes found transfers to their end. Presented ones are accepted. The largest of the others is recorded and
 * minted. Money that one proof cannot bring is kept and shown.
 */
import type { Address, ChallengeNonce } from '@svc-zerc20/protocol'
import type { Clock } from '../../payment/ports.js'
import type { IssuedStore } from './issued-store.js'
import { againSeconds, createLookAt, type LookAtDeps, type LookedAt } from './look-at.js'
import { createStuck, type Stuck } from './stuck.js'

/** After this many addresses that cannot be looked at, the node is at fault: the others wait for the next round. */
const failuresMax = 8

export type AccountTransfers = Stuck & {
  /**
   * Looks at a bounded number of addresses whose time has come, and returns the payments whose burns it
   * recorded. An address that cannot be looked at does not hold up the others.
   */
  round(
    signal: AbortSignal,
  ): Promise<{ readonly recorded: readonly ChallengeNonce[]; readonly failures: readonly unknown[] }>
}

export type AccountDeps = Omit<LookAtDeps, 'store' | 'now'> & {
  readonly store: IssuedStore
  readonly clock: Pick<Clock, 'now'>
  readonly addressesPerRoundMax: number
}

export function createAccountTransfers(deps: AccountDeps): AccountTransfers {
  const { store, ledger } = deps
  const now = () => Math.floor(deps.clock.now() / 1000)
  const lookAt = createLookAt({ ...deps, now })

  async function lookAtDue(payTo: Address): Promise<LookedAt & { readonly nonce?: ChallengeNonce }> {
    const [challenge] = await store.find([payTo])
    const transfers = challenge ? await store.transfersTo(payTo) : []
    if (!challenge || transfers.length === 0) return {}
    const payment = await ledger.books.find(challenge.nonce)
    return { nonce: challenge.nonce, ...(await lookAt({ challenge, payment, transfers })) }
  }

  return {
    ...createStuck({ ...deps, now }),

    async round(signal) {
      const recorded: ChallengeNonce[] = []
      const failures: unknown[] = []
      for (const at of await store.due(now(), deps.addressesPerRoundMax)) {
        signal.throwIfAborted()
        if (failures.length === failuresMax) break
        const looked = await lookAtDue(at.payTo).catch((error: unknown) => {
          failures.push(error)
          return { again: now() + againSeconds, nonce: undefined, isRecorded: false }
        })
        await store.lookedAt(at, looked.again)
        if (looked.nonce && looked.isRecorded) recorded.push(looked.nonce)
      }
      return { recorded, failures }
    },
  }
}
