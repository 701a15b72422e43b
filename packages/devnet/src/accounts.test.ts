import { toHex } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { developmentAccounts, developmentMnemonic } from './accounts.js'

test('the development accounts are those of the usual mnemonic', () => {
  expect(developmentAccounts).toHaveLength(20)
  for (const [addressIndex, { address, privateKey }] of developmentAccounts.entries()) {
    const derived = mnemonicToAccount(developmentMnemonic, { addressIndex })
    expect(address).toBe(derived.address)
    expect(privateKey).toBe(toHex(derived.getHdKey().privateKey ?? new Uint8Array()))
  }
})
