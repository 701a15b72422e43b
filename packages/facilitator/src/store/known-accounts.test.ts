import type { Address } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { hashOf } from '../../test/challenges.js'
import { createMemoryStore } from '../../test/store.js'
import type { AccountName, KnownAccount } from './events.js'
import { assertAccountsKnown } from './known-accounts.js'
import { readAccount } from './steps/operator-steps.js'

const address = (digit: string) => `0x${digit.repeat(40)}` as Address
const [relayer, minter] = [address('1'), address('2')]

/** A ledger, and accounts with so many mined transactions. */
function setup() {
  const { store } = createMemoryStore(stoppedClock())
  const storage = {
    knownAccount: (name: AccountName) => store.ask(readAccount(name)),
    bindAccount: (name: AccountName, account: KnownAccount) => store.change('bindAccount', name, account),
  }
  const accountOf = (of: Address, mined: number) => ({ address: of, minedCount: async () => mined })
  const start = (mined: { relayer: number; minter?: number }, as = minter) =>
    assertAccountsKnown({
      storage,
      relayer: accountOf(relayer, mined.relayer),
      minter: mined.minter === undefined ? undefined : accountOf(as, mined.minter),
    })
  const acceptCopy = () => store.change('acceptCopy', 0)
  const sign = (txNonce: number, from: Address = relayer) =>
    store.change('recordSigned', { txNonce, hash: hashOf(txNonce), raw: '0x02' as const, from }, [])
  return { start, acceptCopy, sign }
}

describe('transactions that the ledger does not know', () => {
  it('stop a start, of the relayer and of the minter, unless the operator accepts the journal', async () => {
    const { start, acceptCopy } = setup()
    await start({ relayer: 3, minter: 5 })
    await start({ relayer: 3, minter: 5 })
    await expect(start({ relayer: 4, minter: 5 })).rejects.toThrow(`the relayer ${relayer} has sent 1 `)
    await expect(start({ relayer: 3, minter: 7 })).rejects.toThrow(`the minter ${minter} has sent 2 `)
    await acceptCopy()
    // A daemon that does not mint comes first.
    await start({ relayer: 4 })
    await start({ relayer: 4, minter: 7 })
    await start({ relayer: 4, minter: 7 })
    await expect(start({ relayer: 5, minter: 7 })).rejects.toThrow('has sent 1 ')
    await expect(start({ relayer: 4, minter: 8 })).rejects.toThrow('has sent 1 ')
  })

  it('are not those that were signed before the copy was accepted, or since, and are mined later', async () => {
    const { start, acceptCopy, sign } = setup()
    await start({ relayer: 3 })
    await sign(3)
    await acceptCopy()
    await sign(4)
    await start({ relayer: 3 })
    await start({ relayer: 5 })
    await expect(start({ relayer: 6 })).rejects.toThrow('has sent 1 ')
  })

  it('are counted by account: a mint of the minter says nothing about the relayer', async () => {
    const { sign, start } = setup()
    await start({ relayer: 3, minter: 0 })
    for (const txNonce of [0, 1, 2, 3, 4]) await sign(txNonce, minter)
    await start({ relayer: 3, minter: 5 })
    await expect(start({ relayer: 4, minter: 5 })).rejects.toMatchObject({ code: 'ledger_old' })
    await sign(3)
    await start({ relayer: 4, minter: 5 })
  })

  it('are none when the minter has another key, or none', async () => {
    const { sign, start } = setup()
    await start({ relayer: 3, minter: 2 })
    await start({ relayer: 3, minter: 9 }, address('3'))
    // A record of the minter before: its key is not the one that is bound.
    await sign(50, minter)
    await expect(start({ relayer: 3, minter: 10 }, address('3'))).rejects.toThrow('has sent 1 ')
    await start({ relayer: 3 })
  })
})
