import { type Address, parseAddress } from '@svc-zerc20/protocol'
import fc from 'fast-check'
import { type Hex, keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { signTransaction } from './sign-transaction.js'

const hexOf = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((each) => `0x${Buffer.from(each).toString('hex')}` as Hex)
/** Numbers of every length, those around the ends of a byte included. */
const uint = (bits: number) =>
  fc.oneof(
    fc.constantFrom(0n, 1n, 0x7fn, 0x80n, 0xffn, 0x100n),
    fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }),
  )

it('a transaction is signed with the bytes and the hash that viem signs it with', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        key: fc
          .bigInt({ min: 1n, max: 2n ** 255n })
          .map((key) => `0x${key.toString(16).padStart(64, '0')}` as Hex),
        chainId: fc.integer({ min: 1, max: 2 ** 40 }),
        txNonce: fc.oneof(fc.constantFrom(0, 127, 128, 255, 256), fc.integer({ min: 0, max: 2 ** 40 })),
        to: hexOf(20).map((hex) => parseAddress(hex) as Address),
        data: fc
          .oneof(fc.constantFrom(0, 1, 2, 54, 55, 56, 57, 255, 256), fc.integer({ min: 0, max: 70_000 }))
          .chain(hexOf),
        gas: uint(40),
        fees: fc.tuple(uint(120), uint(120)).map((both) => both.toSorted((a, b) => (a < b ? -1 : 1))),
      }),
      async ({ key, chainId, txNonce, to, data, gas, fees }) => {
        const account = privateKeyToAccount(key)
        const [maxPriorityFeePerGas = 0n, maxFeePerGas = 0n] = fees
        const price = { maxFeePerGas, maxPriorityFeePerGas }
        const raw = await account.signTransaction({
          type: 'eip1559',
          chainId,
          nonce: txNonce,
          to,
          data,
          gas,
          ...price,
        })
        const ours = await signTransaction(account, { chainId, txNonce, to, data, gas, price })
        expect(ours).toEqual({ raw, hash: keccak256(raw) })
      },
    ),
    { numRuns: 60 },
  )
})
