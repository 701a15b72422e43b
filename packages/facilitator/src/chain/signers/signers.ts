/** Computes the signers of a permit payload, with a bounded cache. */
import { bytesToHex } from '@noble/hashes/utils'
import {
  type Address,
  type BaseUnits,
  createBoundedMap,
  type Payload,
  parseAddress,
  TypedData,
} from '@svc-zerc20/protocol'
import type { Deployment, Signers } from '../../payment/ports.js'
import type { Challenge } from '../../payment/records.js'
import { type SignerQuestion, signerOf } from './signer-of.js'
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
  return question === undefined ? undefined : parseAddress(signerOf(question))
}

export function createSigners(deps: {
  deployment: Deployment
  cacheEntries: number
  /** The signer thread. Without it, signers are computed here. */
  thread?: Pick<SignerThread, 'signerOf'>
}): Signers {
  const { chainId, token, tokenName, helper } = deps.deployment
  const permitSeparator = TypedData.domainSeparator(TypedData.permitDomain(tokenName, chainId, token))
  const burnSeparator =
    helper && TypedData.domainSeparator(TypedData.burnAuthorizationDomain(chainId, helper))
  const known = createBoundedMap<string, Promise<Address | undefined>>(deps.cacheEntries)

  async function find(question: SignerQuestion): Promise<Address | undefined> {
    return parseAddress(deps.thread ? await deps.thread.signerOf(question) : signerOf(question))
  }

  async function remembered(digest: Uint8Array, signature: SplitSignature): Promise<Address | undefined> {
    const question = toQuestion(digest, signature)
    if (question === undefined) return undefined
    const signer = known.get(question) ?? find(question)
    known.set(question, signer)
    return signer
  }

  return {
    async permitSigner({ payer, permit }: Payload.PermitPayload) {
      if (!helper) return undefined
      const { value, nonce, deadline } = permit
      const message = { owner: payer, spender: helper, value, nonce, deadline }
      return remembered(TypedData.permitDigest(permitSeparator, message), permit)
    },
    async burnAuthorizationSigner(challenge: Challenge, { payer, burnAuthSig }: Payload.PermitPayload) {
      if (!burnSeparator || challenge.deadline === undefined) return undefined
      const digest = TypedData.burnAuthorizationDigest(burnSeparator, {
        token,
        payer,
        burnAddress: challenge.payTo,
        value: challenge.amount,
        challengeNonce: challenge.nonce,
        deadline: BigInt(challenge.deadline) as BaseUnits,
      })
      return remembered(digest, splitSignature(burnAuthSig))
    },
  }
}
