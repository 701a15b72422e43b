import { pbkdf2Sync } from 'node:crypto'
import { toHex } from 'viem'
import { HDKey, hdKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { developmentAccounts, developmentMnemonic } from './accounts.js'

test('the development accounts are those of the usual mnemonic', () => {
  // BIP-39 with Node's own PBKDF2, once for all tests, because the portable one takes seconds.
  const master = HDKey.fromMasterSeed(pbkdf2Sync(developmentMnemonic, 'mnemonic', 2048, 64, 'sha512'))
  expect(developmentAccounts).toHaveLength(20)
  for (const [addressIndex, { address, privateKey }] of developmentAccounts.entries()) {
    const derived = hdKeyToAccount(master, { addressIndex })
    expect(address).toBe(derived.address)
    expect(privateKey).toBe(toHex(derived.getHdKey().privateKey ?? new Uint8Array()))
  }
})
