/** The permit path: signs twice and sends nothing. */
import {
  type Address,
  type BaseUnits,
  type Bytes32,
  Payload,
  parseSignature,
  type Signature,
  TypedData,
} from '@svc-zerc20/protocol'
import { hashTypedData, type LocalAccount } from 'viem'
import type { PermitOffer } from '../offer.js'
import { PayerError } from '../payer-error.js'
import { assertCovers, type Permission } from '../policy/permission.js'
import type { PermitFacts } from '../state/permit-nonces.js'

export type PermitSigner = Pick<LocalAccount, 'signTypedData'>

/** Permission to sign, and `signing`, which judges once more and notes the hashes before anything is signed. */
export type PermissionToSign = {
  readonly permission: Permission
  readonly signing: (permission: Permission, hashes: Readonly<Record<string, string>>) => Promise<void>
}

/** Signs the permit and the burn authorization of an offer, both bound to its deadline. */
export async function signPermit(
  signer: PermitSigner,
  payer: Address,
  offer: PermitOffer,
  facts: PermitFacts,
  granted: PermissionToSign,
): Promise<Record<string, unknown>> {
  assertCovers(granted.permission, payer, 'permit', offer)
  const { challengeNonce, chainId, token, payTo, amount: value, helper } = offer
  const nonce = facts.nonce as BaseUnits
  const deadline = BigInt(offer.deadline) as BaseUnits
  const permit = TypedData.permitTypedData(TypedData.permitDomain(facts.tokenName, chainId, token), {
    owner: payer,
    spender: helper,
    value,
    nonce,
    deadline,
  })
  const burn = TypedData.burnAuthorizationTypedData(TypedData.burnAuthorizationDomain(chainId, helper), {
    token,
    payer,
    burnAddress: payTo,
    value,
    challengeNonce,
    deadline,
  })
  await granted.signing(granted.permission, {
    permit: hashTypedData(permit),
    burnAuthorization: hashTypedData(burn),
  })
  const permitSig = canonical(await signer.signTypedData(permit))
  const burnAuthSig = canonical(await signer.signTypedData(burn))
  return Payload.toWire({
    kind: 'permit',
    challengeNonce,
    payer,
    permit: { value, nonce, deadline, ...split(permitSig) },
    burnAuthSig,
  })
}

/** Some signers write the recovery bit as 0 or 1; the token's `ecrecover` wants 27 or 28. */
function canonical(text: string): Signature {
  const signature = parseSignature(text)
  if (signature === undefined) throw new PayerError('signature_unusable', `${text.length} characters`)
  const v = Number.parseInt(signature.slice(-2), 16)
  return v < 27 ? (`${signature.slice(0, -2)}${(v + 27).toString(16)}` as Signature) : signature
}

function split(signature: Signature): { v: number; r: Bytes32; s: Bytes32 } {
  return {
    v: Number.parseInt(signature.slice(130), 16),
    r: signature.slice(0, 66) as Bytes32,
    s: `0x${signature.slice(66, 130)}` as Bytes32,
  }
}
