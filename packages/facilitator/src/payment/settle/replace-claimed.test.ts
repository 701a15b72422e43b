import type { TxHash } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import {
  addressOf,
  burnOf,
  challengeOf,
  hashOf,
  permitPayloadOf,
  selfTransferOf,
  units,
} from '../../../test/challenges.js'
import { createMemoryLedger } from '../../../test/ledger.js'
import type { Burn } from '../records.js'
import { replaceClaimed } from './replace-claimed.js'

const challenge = challengeOf(1)
const { nonce } = challenge
const [presented, instead] = [burnOf(1), burnOf(2)]

async function setup(payload: Parameters<ReturnType<typeof createMemoryLedger>['claim']>[1]) {
  const ledger = createMemoryLedger({ clock: stoppedClock(), openMax: 9, expiredRetentionSeconds: 3600 })
  await ledger.issue(challenge)
  await ledger.claim(nonce, payload)
  const onChain = new Map<TxHash, { burn: Burn; depth: number }>()
  const mine = (burn: Burn, depth = 3) => onChain.set(burn.txHash, { burn, depth })
  mine(instead)
  const replace = async (...transfers: Burn[]) =>
    replaceClaimed(
      {
        ledger,
        reread: async (_, burn) => onChain.get(burn.txHash),
        depth: 3,
        report: () => undefined,
      },
      challenge,
      await ledger.books.find(nonce),
      transfers,
    )
  return { ledger, onChain, mine, replace }
}

describe('a transfer that was presented and that no block holds any more', () => {
  it('is replaced by the one that came in its stead', async () => {
    const { ledger, replace } = await setup(selfTransferOf(challenge, 1))
    expect(await replace(instead)).toBe(true)
    expect((await ledger.find(nonce))?.accepted?.burn).toEqual(instead)
  })

  it('is replaced after it was accepted, too, and again when the first comes back', async () => {
    const { ledger, replace, onChain, mine } = await setup(selfTransferOf(challenge, 1))
    await ledger.accept(nonce, presented)
    await ledger.demote(nonce)
    expect(await replace(instead)).toBe(true)
    await ledger.demote(nonce)
    onChain.clear()
    mine(presented)
    expect(await replace(presented)).toBe(true)
    expect((await ledger.find(nonce))?.accepted?.burn).toEqual(presented)
  })

  it('is not replaced while a block holds it, nor by less than what was asked', async () => {
    const { replace, mine } = await setup(selfTransferOf(challenge, 1))
    expect(await replace({ ...instead, value: units(999n) })).toBe(false)
    mine(presented)
    expect(await replace(instead)).toBe(false)
  })

  it('is not replaced by a transfer that is gone itself, is elsewhere now, or is not deep', async () => {
    const { replace, onChain, mine } = await setup(selfTransferOf(challenge, 1))
    onChain.clear()
    expect(await replace(instead)).toBe(false)
    mine({ ...instead, blockHash: hashOf(9) })
    expect(await replace(instead)).toBe(false)
    mine({ ...instead, leafIndex: 99n })
    expect(await replace(instead)).toBe(false)
    mine(instead, 2)
    expect(await replace(instead)).toBe(false)
    mine(instead)
    expect(await replace(instead)).toBe(true)
  })

  it('is none when a permit was presented', async () => {
    const { ledger, replace } = await setup(permitPayloadOf(challenge))
    await ledger.recordSigned({ txNonce: 0, hash: presented.txHash, raw: '0x02', from: addressOf(0xb0) }, [
      nonce,
    ])
    expect(await replace(instead)).toBe(false)
  })
})
