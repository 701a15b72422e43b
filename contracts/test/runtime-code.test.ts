import { type Address, type Hex, pad, size, zeroAddress } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  hubAbi,
  hubBytecode,
  hubRuntime,
  permitBurnerRuntime,
  readRuntime,
  tokenRuntime,
  verifierAbi,
  verifierBytecode,
  verifierRuntime,
} from '../index.js'
import { deployBurner, deployToken } from './support/burns.js'
import { type Chain, startChain } from './support/chain.js'

let chain: Chain
let token: Address
let burner: Address
let verifier: Address
let codeOf: (address: Address) => Promise<Hex>

beforeAll(async () => {
  chain = await startChain()
  const { operator, client, deploy } = chain
  token = await deployToken(chain, 'Code zUSD')
  burner = await deployBurner(chain)
  verifier = await deploy(verifierAbi, verifierBytecode, [token, 4, operator.address, zeroAddress])
  codeOf = async (address) => (await client.getCode({ address })) ?? '0x'
})

describe('code at an address', () => {
  test('is told as ours whatever its immutables are, and says what they are', async () => {
    const word = (address: Address) => pad(address.toLowerCase() as Hex)
    expect(readRuntime(await codeOf(token), tokenRuntime)).toMatchObject({ _cachedThis: word(token) })
    expect(readRuntime(await codeOf(burner), permitBurnerRuntime)).toMatchObject({
      _cachedThis: word(burner),
      _cachedChainId: pad('0x7a69'),
    })
    expect(readRuntime(await codeOf(verifier), verifierRuntime)).toMatchObject({
      token: word(token),
      powBits: pad('0x04'),
      predecessor: pad('0x'),
    })
  })

  test('without immutables is told too', async () => {
    const hub = await chain.deploy(hubAbi, hubBytecode, [chain.operator.address])
    expect(readRuntime(await codeOf(hub), hubRuntime)).toEqual({})
  })

  test('of another contract, and no code at all, is not ours', async () => {
    expect(readRuntime(await codeOf(token), permitBurnerRuntime)).toBeUndefined()
    expect(readRuntime(await codeOf(chain.operator.address), permitBurnerRuntime)).toBeUndefined()
  })

  test('is not ours when any byte outside the immutables differs, or when there is one more or less', async () => {
    const code = await codeOf(burner)
    const inImmutable = new Set(
      Object.values(permitBurnerRuntime.immutables).flatMap(([start]) =>
        Array.from({ length: 32 }, (_, i) => start + i),
      ),
    )
    for (let at = 0; at < size(code); at += 7) {
      const told = readRuntime(withByteFlipped(code, at), permitBurnerRuntime)
      expect(told !== undefined, `byte ${at}`).toBe(inImmutable.has(at))
    }
    expect(readRuntime(`${code}00`, permitBurnerRuntime)).toBeUndefined()
    expect(readRuntime(code.slice(0, -2), permitBurnerRuntime)).toBeUndefined()
  })

  test('is not ours when the places of one immutable disagree', async () => {
    const second = verifierRuntime.immutables.predecessor[1]
    const torn = withByteFlipped(await codeOf(verifier), second + 31)
    expect(readRuntime(torn, verifierRuntime)).toBeUndefined()
  })
})

function withByteFlipped(code: Hex, at: number): Hex {
  const from = 2 + 2 * at
  const flipped = (Number.parseInt(code.slice(from, from + 2), 16) ^ 0xff).toString(16).padStart(2, '0')
  return `0x${code.slice(2, from)}${flipped}${code.slice(from + 2)}`
}
