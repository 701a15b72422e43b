import { bn254 } from '@noble/curves/bn254'
import { scalarPrime } from '@svc-zerc20/kernel'
import type { G1, G2, VerificationKey } from '@svc-zerc20/zk'
import type { Proof } from './message.js'

const { Point: Point1 } = bn254.G1
const { Point: Point2 } = bn254.G2
const { Fp2, Fp12 } = bn254.fields

const point1 = ([x, y]: G1) => Point1.fromAffine({ x: BigInt(x), y: BigInt(y) })
const point2 = ([xIm, xRe, yIm, yRe]: G2) =>
  Point2.fromAffine({
    x: Fp2.fromBigTuple([BigInt(xRe), BigInt(xIm)]),
    y: Fp2.fromBigTuple([BigInt(yRe), BigInt(yIm)]),
  })

/** Whether a proof is valid under the key. Its points must be on their curves, and its signals as many as the key's. */
export function createVerify({ alpha, beta, gamma, delta, ic }: VerificationKey): (proof: Proof) => boolean {
  const [constant, ...rest] = ic.map(point1)
  const key = { alpha: point1(alpha), beta: point2(beta), gamma: point2(gamma), delta: point2(delta) }
  return ({ proof, signals }) => {
    const [ax = 0n, ay = 0n, bxIm = 0n, bxRe = 0n, byIm = 0n, byRe = 0n, cx = 0n, cy = 0n] = proof
    const statement = rest.reduce((sum, point, index) => {
      const signal = (signals[index] ?? 0n) % scalarPrime
      return signal === 0n ? sum : sum.add(point.multiplyUnsafe(signal))
    }, constant ?? Point1.ZERO)
    const b = Point2.fromAffine({ x: Fp2.fromBigTuple([bxRe, bxIm]), y: Fp2.fromBigTuple([byRe, byIm]) })
    const product = bn254.pairingBatch([
      { g1: Point1.fromAffine({ x: ax, y: ay }).negate(), g2: b },
      { g1: key.alpha, g2: key.beta },
      { g1: statement, g2: key.gamma },
      { g1: Point1.fromAffine({ x: cx, y: cy }), g2: key.delta },
    ])
    return Fp12.eql(product, Fp12.ONE)
  }
}
