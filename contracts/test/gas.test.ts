import { type Hex, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, expect, test } from 'vitest'
import { permitBurnerAbi, tokenAbi } from '../generated/index.js'
import { deployBurner, deployToken, domainOf, messagesOf, mint, signRequest } from './support/burns.js'
import { farDeadline, startChain } from './support/chain.js'
import { measureProofs } from './support/proof-gas.js'
import { stored } from './support/stored.js'

/** A cost may grow by this factor before it counts as a regression. */
const tolerance = 1.01
const batchSizes = [1, 10, 25, 50]
const value = 1_000_000n

type Snapshot = Record<string, number>
let measured: Snapshot
let committed: Snapshot

// Whole transactions as a relayer pays for them. Every burn is of the most expensive kind: the payer's first, to a fresh
// address.
beforeAll(async () => {
  const chain = await startChain()
  const token = await deployToken(chain, 'Gas zUSD')
  const burner = await deployBurner(chain)
  const tokenDomain = await domainOf(chain, token)
  const burnerDomain = await domainOf(chain, burner)
  const writes = { address: burner, abi: permitBurnerAbi } as const
  let counter = 0

  const freshRequest = async () => {
    counter += 1
    const challengeNonce = numberToHex(2n ** 255n + BigInt(counter), { size: 32 })
    const payer = privateKeyToAccount(numberToHex(2n ** 200n + BigInt(counter), { size: 32 }))
    await mint(chain, token, payer.address, value)
    const burn = {
      burnAddress: freshAddress(counter),
      value,
      challengeNonce,
      deadline: farDeadline,
      permitNonce: 0n,
    }
    return signRequest(payer, messagesOf(tokenDomain, burnerDomain, payer.address, burn))
  }
  const gasOf = async (hash: Hex) => Number((await chain.mined(hash)).gasUsed)

  await mint(chain, token, chain.operator.address, 10n * value)
  const transfer = async () => {
    const args = [freshAddress(999), value] as const
    return gasOf(
      await chain.client.writeContract({ address: token, abi: tokenAbi, functionName: 'transfer', args }),
    )
  }
  measured = {
    'transfer to a fresh address': await transfer(),
    'transfer to a known address': await transfer(),
  }
  const single = [await freshRequest()] as const
  measured.burn = await gasOf(
    await chain.client.writeContract({ ...writes, functionName: 'burn', args: single }),
  )
  for (const size of batchSizes) {
    const requests = []
    while (requests.length < size) requests.push(await freshRequest())
    const hash = await chain.client.writeContract({ ...writes, functionName: 'burnBatch', args: [requests] })
    measured[`per burn in a batch of ${size}`] = Math.ceil((await gasOf(hash)) / size)
  }
  Object.assign(measured, await measureProofs(chain))
  committed = stored(new URL('gas-snapshot.json', import.meta.url), measured)
})

test('every measured cost is in the gas snapshot, and nothing else is', () => {
  expect(Object.keys(committed)).toEqual(Object.keys(measured))
})

test('no cost has grown beyond the tolerance', () => {
  const grown = Object.entries(measured).filter(([name, gas]) => gas > (committed[name] ?? 0) * tolerance)
  expect(grown).toEqual([])
})

test('a mint, even the first of a token, costs at most a tenth more than one of upstream, measured at 313 846', () => {
  expect(measured['first singleTeleport']).toBeLessThan(313_846 * 1.1)
  expect(measured['singleTeleport to a fresh address']).toBeLessThan(313_846 * 1.1)
})

test('a payment in a batch mint of thirty costs at most 12 000 gas, and in one of eight at most 45 000', () => {
  const dearest = measured['first batchTeleport of an epoch'] ?? Number.NaN
  expect(dearest / 30).toBeLessThan(12_000)
  expect(dearest / 8).toBeLessThan(45_000)
})

test('a burn in a batch is cheaper than a burn alone', () => {
  expect(measured['per burn in a batch of 10']).toBeLessThan(measured.burn ?? 0)
})

function freshAddress(counter: number): Hex {
  return numberToHex(2n ** 159n + BigInt(counter) * 0x1_0001n, { size: 20 })
}
