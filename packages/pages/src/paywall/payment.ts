/** An offer, the two signatures that pay it, and the header that carries them. */
import type { Offer } from '@svc-zerc20/protocol'
import type { TokenFacts, Wallet } from './wallet.js'

export type PaymentOffer = Offer.PaymentRequirements
export type PermitOffer = PaymentOffer & {
  readonly extra: PaymentOffer['extra'] & { readonly helper: string; readonly deadline: number }
}

export type Required = {
  readonly error?: string
  readonly accepts: readonly PaymentOffer[]
}

/** A header of x402: base64 of JSON. One that cannot be read counts as absent. */
const encode = (value: unknown): string =>
  btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(value))))

export function decode<T>(header: string | null | undefined): T | undefined {
  try {
    const bytes = Uint8Array.from(atob(header ?? ''), (char) => char.charCodeAt(0))
    return JSON.parse(new TextDecoder().decode(bytes)) as T
  } catch {
    return undefined
  }
}

/** The offer that this page can pay: ours, and gasless. */
export function offerIn(required: Required | undefined): PermitOffer | undefined {
  return required?.accepts.find(
    (offer): offer is PermitOffer =>
      offer.scheme === 'svc-zerc20' && !!offer.extra.helper && !!offer.extra.deadline,
  )
}

export const chainOf = ({ network }: PaymentOffer): number => Number(network.split(':')[1])

/** The fields of EIP-712 types, written as Solidity does. */
const fields = {
  EIP712Domain: 'string name,string version,uint256 chainId,address verifyingContract',
  Permit: 'address owner,address spender,uint256 value,uint256 nonce,uint256 deadline',
  BurnAuthorization:
    'address token,address payer,address burnAddress,uint256 value,bytes32 challengeNonce,uint256 deadline',
}

const typeOf = (name: keyof typeof fields) =>
  fields[name].split(',').map((field) => {
    const [type, name] = field.split(' ')
    return { name, type }
  })

/** A wallet that signs as a contract: the permit takes the signature of a key. */
export class NoKeySignature extends Error {}

async function signTyped(
  wallet: Wallet,
  account: string,
  domain: { name: string; chainId: number; verifyingContract: string },
  primaryType: keyof typeof fields,
  message: object,
): Promise<string> {
  const types = { EIP712Domain: typeOf('EIP712Domain'), [primaryType]: typeOf(primaryType) }
  const params = [
    account,
    JSON.stringify({ domain: { ...domain, version: '1' }, types, primaryType, message }),
  ]
  const signature = String(await wallet.request({ method: 'eth_signTypedData_v4', params })).toLowerCase()
  if (!/^0x[0-9a-f]{130}$/.test(signature)) throw new NoKeySignature()
  // Some wallets write the recovery bit as 0 or 1; the token wants 27 or 28.
  const v = Number.parseInt(signature.slice(130), 16)
  return signature.slice(0, 130) + (v < 27 ? v + 27 : v).toString(16)
}

export const signPermit = (
  wallet: Wallet,
  account: string,
  offer: PermitOffer,
  { name, nonce }: TokenFacts,
): Promise<string> =>
  signTyped(wallet, account, { name, chainId: chainOf(offer), verifyingContract: offer.asset }, 'Permit', {
    owner: account,
    spender: offer.extra.helper,
    value: offer.amount,
    nonce: `${nonce}`,
    deadline: `${offer.extra.deadline}`,
  })

export const signBurn = (wallet: Wallet, account: string, offer: PermitOffer): Promise<string> =>
  signTyped(
    wallet,
    account,
    { name: 'SvcPermitBurner', chainId: chainOf(offer), verifyingContract: offer.extra.helper },
    'BurnAuthorization',
    {
      token: offer.asset,
      payer: account,
      burnAddress: offer.payTo,
      value: offer.amount,
      challengeNonce: offer.extra.challengeNonce,
      deadline: `${offer.extra.deadline}`,
    },
  )

/** The value of PAYMENT-SIGNATURE. */
export function paymentHeader(
  accepted: PermitOffer,
  payer: string,
  nonce: bigint,
  permit: string,
  burnAuthSig: string,
): string {
  const { challengeNonce, deadline } = accepted.extra
  return encode({
    x402Version: 2,
    accepted,
    payload: {
      challengeNonce,
      payer,
      permit: {
        value: accepted.amount,
        nonce: `${nonce}`,
        deadline: `${deadline}`,
        v: Number.parseInt(permit.slice(130), 16),
        r: permit.slice(0, 66),
        s: `0x${permit.slice(66, 130)}`,
      },
      burnAuthSig,
    },
  })
}
