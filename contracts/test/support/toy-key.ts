// A Groth16 key whose secret is known, and proofs of anything under it. Such proofs are made at once and cost the same gas
// as real ones. Beta, gamma, delta and B are 2, 3, 5 and 1 times the generator of G2; alpha is 7 and the i-th signal point
// 11 + i times the generator of G1. The curve arithmetic is the chain's own.
import { concatHex, type Hex, hexToBigInt, numberToHex, pad, slice } from 'viem'
import type { KeyWords } from '../../verification-key.js'
import type { Chain } from './chain.js'
import type { Keys } from './zerc20.js'

const order = 21888242871839275222246405745257275088548364400416034343698204186575808495617n
const inverseOfFive = 8755297148735710088898562298102910035419345760166413737479281674630323398247n
const multiply = pad('0x07', { size: 20 })

const g2 = {
  one: [
    '0x198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2',
    '0x1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed',
    '0x090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b',
    '0x12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa',
  ],
  two: [
    '0x203e205db4f19b37b60121b83a7333706db86431c6d835849957ed8c3928ad79',
    '0x27dc7234fd11d3e8c36c59277c3e6f149d5cd3cfa9a62aee49f8130962b4b3b9',
    '0x195e8aa5b7827463722b8c153931579d3505566b4edf48d498e185f0509de152',
    '0x04bb53b8977e5f92a0bc372742c4830944a59b4fe6b1c0466e2a6dad122b5d2e',
  ],
  three: [
    '0x1014772f57bb9742735191cd5dcfe4ebbc04156b6878a0a7c9824f32ffb66e85',
    '0x06064e784db10e9051e52826e192715e8d7e478cb09a5e0012defa0694fbc7f5',
    '0x021e2335f3354bb7922ffcc2f38d3323dd9453ac49b55441452aeaca147711b2',
    '0x058e1d5681b5b9e0074b0f9c8d2c68a069b920d74521e79765036d57666c5597',
  ],
  five: [
    '0x0a09ccf561b55fd99d1c1208dee1162457b57ac5af3759d50671e510e428b2a1',
    '0x2e539c423b302d13f4e5773c603948eaf5db5df8ae8a9a9113708390a06410d8',
    '0x19b763513924a736e4eebd0d78c91c1bc1d657fee4214057d21414011cfcc763',
    '0x2f8d9f9ab83727c77a2fec063cb7b6e5eb23044ccf535ad49d46d394fb6f6bf6',
  ],
} as const

/** The key for a number of signals. */
export async function toyKey(chain: Chain, signals: number): Promise<KeyWords> {
  const ic = Array.from({ length: signals + 1 }, (_, i) => point(chain, 11n + BigInt(i)))
  return {
    alpha: await point(chain, 7n),
    beta: g2.two,
    gamma: g2.three,
    delta: g2.five,
    ic: await Promise.all(ic),
  }
}

/** A key for each circuit. */
export async function toyKeys(chain: Chain): Promise<Keys> {
  const [withdraw, root, batch] = [await toyKey(chain, 3), await toyKey(chain, 6), await toyKey(chain, 5)]
  return { withdrawLocal: withdraw, withdrawGlobal: withdraw, root16: root, root64: root, batch }
}

/** The eight words of a proof: with B fixed, the equation is a = 14 + 3 input + 5 c in the exponents. */
export async function toyProof(chain: Chain, signals: readonly bigint[]): Promise<bigint[]> {
  const input = signals.reduce((sum, signal, i) => sum + (12n + BigInt(i)) * signal, 11n)
  const a = 0x5eedn
  const c = ((((a - 14n - 3n * input) % order) + order) * inverseOfFive) % order
  return [...(await point(chain, a)), ...g2.one, ...(await point(chain, c))].map((word) => hexToBigInt(word))
}

async function point({ client }: Chain, scalar: bigint): Promise<[Hex, Hex]> {
  const data = concatHex([1n, 2n, scalar].map((word) => numberToHex(word, { size: 32 })))
  const { data: product } = await client.call({ to: multiply, data })
  if (!product) throw new Error('the precompile answered nothing')
  return [slice(product, 0, 32), slice(product, 32, 64)]
}
