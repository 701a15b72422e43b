/** Computes the signers of a permit payload, with a bounded cache. */
import { bytesToHex } from '@noble/hashes/utils'
import { keccak256 } from '@svc-zerc20/kernel'
import {
  type Address,
  type BaseUnits,
  createBoundedMap,
  type Payload,
  parseAddress,
  TypedData,
} from '@svc-zerc20/protocol'
import type { Deployment, PermitSigners, Signers } from '../../payment/ports.js'
import type { Challenge } from '../../payment/records.js'
import type { Metrics } from '../../telemetry/metrics.js'
import { type SignerQuestion, signersOf } from './signer-of.js'
import type { SignerThread } from './signer-thread.js'

export type SplitSignature = { readonly r: string; readonly s: string; readonly v: number }

const secp256k1HalfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** The form that the contracts accept: low s, v of 27 or 28. Some wallets write v as 0 or 1. */
export function canonical({ r, s, v }: SplitSignature): SplitSignature | undefined {
  const parity = v >= 27 ? v - 27 : v
  if (parity !== 0 && parity !== 1) return undefined
  return BigInt(s) <= secp256k1HalfOrder ? { r, s, v: 27 + parity } : undefined
}

export function splitSignature(signature: string): SplitSignature {
  return {
    r: signature.slice(0, 66),
    s: `0x${signature.slice(66, 130)}`,
    v: Number.parseInt(signature.slice(130), 16),
  }
}

/** The question for the signer thread, or undefined when the signature has no canonical form. */
function toQuestion(digest: Uint8Array, signature: SplitSignature): SignerQuestion | undefined {
  const form = canonical(signature)
  if (!form) return undefined
  return `${bytesToHex(digest)}${form.r.slice(2)}${form.s.slice(2)}${form.v === 27 ? '00' : '01'}`
}

/** The address whose key made the signature, or undefined when it has no canonical form or no public key. */
export function signerOfDigest(digest: Uint8Array, signature: SplitSignature): Address | undefined {
  const question = toQuestion(digest, signature)
  return question === undefined ? undefined : parseAddress(signersOf([question])[0])
}

export function createSigners(deps: {
  deployment: Deployment
  cacheEntries: number
  metrics: Pick<Metrics, 'count'>
  /** The signer thread. Without it, signers are computed here. */
  thread?: Pick<SignerThread, 'signerOf'>
}): Signers {
  const { chainId, token, tokenName, helper } = deps.deployment
  const permitSeparator = TypedData.domainSeparator(TypedData.permitDomain(tokenName, chainId, token))
  const burnSeparator =
    helper && TypedData.domainSeparator(TypedData.burnAuthorizationDomain(chainId, helper))
  const known = createBoundedMap<string, Promise<PermitSigners>>(deps.cacheEntries)

  async function find(digest: Uint8Array, signature: SplitSignature): Promise<Address | undefined> {
    const question = toQuestion(digest, signature)
    if (question === undefined) return undefined
    deps.metrics.count('svc_signatures_recovered_total')
    return parseAddress(deps.thread ? await deps.thread.signerOf(question) : signersOf([question])[0])
  }

  async function findBoth(challenge: Challenge, payload: Payload.PermitPayload): Promise<PermitSigners> {
    if (!helper || !burnSeparator || challenge.deadline === undefined) return nobody
    const { payer, permit } = payload
    const { value, nonce, deadline } = permit
    const permitMessage = { owner: payer, spender: helper, value, nonce, deadline }
    const burnMessage = {
      token,
      payer,
      burnAddress: challenge.payTo,
      value: challenge.amount,
      challengeNonce: challenge.nonce,
      deadline: BigInt(challenge.deadline) as BaseUnits,
    }
    const [permitSigner, burnAuthorizationSigner] = await Promise.all([
      find(TypedData.permitDigest(permitSeparator, permitMessage, keccak256), permit),
      find(
        TypedData.burnAuthorizationDigest(burnSeparator, burnMessage, keccak256),
        splitSignature(payload.burnAuthSig),
      ),
    ])
    return { permitSigner, burnAuthorizationSigner }
  }

  return (challenge, payload) => {
    const key = everythingSigned(challenge, payload)
    const signers = known.get(key) ?? findBoth(challenge, payload)
    known.set(key, signers)
    return signers
  }
}

const nobody: PermitSigners = { permitSigner: undefined, burnAuthorizationSigner: undefined }

/** Everything that the signers depend on, as it was parsed: nothing is hashed to find what is known. */
function everythingSigned(
  challenge: Challenge,
  { payer, permit, burnAuthSig }: Payload.PermitPayload,
): string {
  const { nonce, payTo, amount, deadline } = challenge
  const { v, r, s } = permit
  const numbers = `${amount} ${deadline} ${permit.value} ${permit.nonce} ${permit.deadline} ${v}`
  return `${numbers} ${nonce}${payTo}${payer}${r}${s}${burnAuthSig}`
}
