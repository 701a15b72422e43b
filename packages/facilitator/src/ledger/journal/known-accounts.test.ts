import type { Address } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import type { KnownAccount } from '../events/events.js'
import { createLedgerBinding } from '../state/binding.js'
import { assertAccountsKnown } from './known-accounts.js'

const address = (digit: string) => `0x${digit.repeat(40)}` as Address
const [relayer, minter] = [address('1'), address('2')]

/** A journal that is bound, and accounts with so many mined transactions. */
function setup() {
  const binding = createLedgerBinding()
  binding.bind({ chainId: 1, token: address('a') })
  const storage = {
    knownAccount: (name: 'relayer' | 'minter') => binding.current()?.[name],
    async bindAccount(name: 'relayer' | 'minter', account: KnownAccount) {
      binding.bind({ chainId: 1, token: address('a'), ...binding.current(), [name]: account })
    },
  }
  const accountOf = (of: Address, mined: number) => ({ address: of, minedCount: async () => mined })
  const start = (mined: { relayer: number; minter?: number }, acceptJournal = false, as = minter) =>
    assertAccountsKnown({
      storage,
      relayer: accountOf(relayer, mined.relayer),
      minter: mined.minter === undefined ? undefined : accountOf(as, mined.minter),
      acceptJournal,
    })
  return { binding, start }
}

describe('transactions that the journal does not know', () => {
  it('stop a start, of the relayer and of the minter, unless the operator accepts the journal', async () => {
    const { start } = setup()
    await start({ relayer: 3, minter: 5 })
    await start({ relayer: 3, minter: 5 })
    await expect(start({ relayer: 4, minter: 5 })).rejects.toThrow(`the relayer ${relayer} has sent 1 `)
    await expect(start({ relayer: 3, minter: 7 })).rejects.toThrow(`the minter ${minter} has sent 2 `)
    await start({ relayer: 3, minter: 7 }, true)
    await start({ relayer: 3, minter: 7 })
  })

  it('are counted by account: a mint of the minter says nothing about the relayer', async () => {
    const { binding, start } = setup()
    await start({ relayer: 3, minter: 0 })
    for (const txNonce of [0, 1, 2, 3, 4]) binding.noteTxNonce({ txNonce, from: minter })
    await start({ relayer: 3, minter: 5 })
    await expect(start({ relayer: 4, minter: 5 })).rejects.toMatchObject({ code: 'journal_old' })
    binding.noteTxNonce({ txNonce: 3 })
    await start({ relayer: 4, minter: 5 })
  })

  it('are none when the minter has another key, or none', async () => {
    const { binding, start } = setup()
    await start({ relayer: 3, minter: 2 })
    await start({ relayer: 3, minter: 9 }, false, address('3'))
    // A record of the minter before: its key is not the one that is bound.
    binding.noteTxNonce({ txNonce: 50, from: minter })
    await expect(start({ relayer: 3, minter: 10 }, false, address('3'))).rejects.toThrow('has sent 1 ')
    await start({ relayer: 3 })
  })
})
