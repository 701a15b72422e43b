import { reject } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { movableClock } from '../../../../../test/support/clocks.js'
import { burnOf, challengeOf, hashOf, permitPayloadOf } from '../../../test/challenges.js'
import { createMemoryStore } from '../../../test/store.js'
import { leaseLost } from '../../store/lease.js'
import { createLedgerChanges, createSharedBurns } from './shared-burns.js'

const challenge = { ...challengeOf(1), expiresAt: 4_000_000_000 as never }
const { nonce } = challenge

async function claimed(here: Parameters<typeof createSharedBurns>[0]['here'] = () => undefined) {
  const clock = movableClock()
  const { ledger } = createMemoryStore(clock)
  await ledger.issue(challenge)
  await ledger.claim(nonce, permitPayloadOf(challenge))
  let hint: () => void = () => undefined
  const hints = (listener: () => void) => {
    hint = listener
    return () => undefined
  }
  // So long that only a hint ends the wait.
  const changes = createLedgerChanges(hints, clock, { everyMs: 3_600_000, gatherMs: 0 })
  const burns = createSharedBurns({ here, ledger, changes, clock })
  return { ledger, burns, hint: () => hint(), clock }
}

describe('burns of another daemon', () => {
  it('end as accepted once the ledger has the burn', async () => {
    const { ledger, burns, hint } = await claimed()
    const end = burns.watch(nonce, 60_000)
    await ledger.accept(nonce, burnOf(1))
    hint()
    expect(await end).toEqual({ kind: 'accepted' })
  })

  it('end as failed with the reason and the transaction that the sender knew', async () => {
    const { ledger, burns, hint } = await claimed()
    const end = burns.watch(nonce, 60_000)
    const { reason, message } = reject('burn_failed')
    await ledger.release(nonce, { reason, message, txHash: hashOf(7) })
    hint()
    expect(await end).toEqual({
      kind: 'failed',
      rejection: { ok: false, reason, message },
      txHash: hashOf(7),
    })
    // The next claim is another matter.
    await ledger.claim(nonce, permitPayloadOf(challenge))
    expect((await ledger.find(nonce))?.released).toBeUndefined()
  })

  it('are waited for no longer than the bound', async () => {
    const { burns, clock } = await claimed()
    const end = burns.watch(nonce, 1_000)
    clock.pass(1_000)
    expect(await end).toBe('late')
  })

  it('are found by polling when no hint comes', async () => {
    const { ledger, clock } = await claimed()
    const changes = createLedgerChanges(undefined, clock, { everyMs: 5, gatherMs: 0 })
    const burns = createSharedBurns({ here: () => undefined, ledger, changes, clock })
    const end = burns.watch(nonce, 60_000)
    await ledger.accept(nonce, burnOf(1))
    expect(await end).toEqual({ kind: 'accepted' })
  })

  it('are those that this daemon began before it lost its lease, too', async () => {
    const watch = async () => {
      throw leaseLost()
    }
    const refuse = async () => {
      throw leaseLost()
    }
    const { ledger, burns, hint } = await claimed(() => ({
      start: () => undefined,
      isUnderWay: () => true,
      watch,
      refuse,
    }))
    expect(await burns.refuse({} as never, reject('permit_nonce_stale'))).toBe('elsewhere')
    const end = burns.watch(nonce, 60_000)
    await ledger.accept(nonce, burnOf(1))
    hint()
    expect(await end).toEqual({ kind: 'accepted' })
  })
})
