import { parseAddress } from '@svc-zerc20/protocol'
import { ProverError } from '@svc-zerc20/prover'
import { burnAddressAt, deriveBurn, treeHeight } from '@svc-zerc20/zk'
import { describe, expect, it } from 'vitest'
import { addressOf, burnOf, challengeOf } from '../../test/challenges.js'
import { minimalConfig } from '../../test/config.js'
import { parseConfig } from '../config/config.js'
import { createBurnSecrets } from './burn-secrets.js'
import { createMintProofs, type MintProver } from './proofs.js'

const config = parseConfig(`${minimalConfig()}\n[zerc20]\npow_bits = 0\n`)
const seed = new Uint8Array(32).fill(7)

function paymentOf(issuedWith: Uint8Array) {
  const challenge = challengeOf(1)
  const { pow_bits: powBits } = config.zerc20
  const { treasury, nonce: challengeNonce } = challenge
  const terms = {
    generation: 2 as const,
    powBits,
    chainId: 31337,
    treasury,
    seed: issuedWith,
    challengeNonce,
  }
  const payTo = parseAddress(burnAddressAt(deriveBurn(terms), challenge.powNonce))
  if (payTo === undefined) throw new Error('no address')
  return { challenge: { ...challenge, payTo }, burn: burnOf(1) }
}

const root = { size: 1n, root: 1n, isPaused: false }
const proving = (prove: MintProver['prove']) =>
  createMintProofs({
    secretsOf: createBurnSecrets(seed, config),
    paths: async () => Array.from({ length: treeHeight }, () => 0n),
    prover: { prove },
    verifier: addressOf(9),
    mintGas: 1n,
  })

describe('a mint that cannot be proved', () => {
  it('because the address is of another key is told in words, without asking the prover', async () => {
    const prove = proving(() => Promise.reject(new Error('nobody should be asked')))
    await expect(
      prove(paymentOf(new Uint8Array(32).fill(8)), root, AbortSignal.any([])),
    ).rejects.toMatchObject({
      code: 'address_not_derived',
      message: expect.stringMatching(/^the address of this payment does not derive from SVC_TREASURY_PK/),
    })
  })

  it('because the circuit refuses is told in words, with what the circuit said as the cause', async () => {
    const cause = new ProverError(
      'bad_input',
      'the circuit refuses its inputs: Error in template W_210 line: 87',
    )
    const prove = proving(() => Promise.reject(cause))
    await expect(prove(paymentOf(seed), root, AbortSignal.any([]))).rejects.toMatchObject({
      code: 'witness_refused',
      message: expect.stringMatching(/^the circuit does not accept this burn: the keys in zerc20\.artifacts/),
      cause,
    })
  })

  it('for any other reason says so itself', async () => {
    const cause = new ProverError('prover_crashed', 'the proving process ended')
    const prove = proving(() => Promise.reject(cause))
    await expect(prove(paymentOf(seed), root, AbortSignal.any([]))).rejects.toBe(cause)
  })
})
