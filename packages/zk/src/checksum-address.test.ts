import { expect, test } from 'vitest'
import { checksumAddress } from './checksum-address.js'
import { bytesOf, type Hex } from './hex.js'

// The examples of EIP-55: all upper, all lower, mixed.
test.each<Hex>([
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
])('gives %s its mixed case', (address) => {
  expect(checksumAddress(bytesOf(address, 20))).toBe(address)
})
