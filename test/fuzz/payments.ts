/** Payments that are valid in every field, but whose payers own no tokens. */
import { devnetToken } from '@svc-zerc20/devnet'
import {
  FacilitatorApi,
  Network,
  Offer,
  parseAddress,
  parseBaseUnits,
  parseChallengeNonce,
  TypedData,
} from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { until } from '../support/until.js'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** The four bodies that pay one challenge. */
export type Payment = {
  readonly challengeNonce: string
  readonly official: { readonly permit: JsonObject; readonly selfTransfer: JsonObject }
  readonly legacy: { readonly permit: JsonObject; readonly selfTransfer: JsonObject }
}

/** Obtains a challenge and signs for it. `burnTxHash` names a transaction of the chain that pays nothing. */
export async function createPayment(facilitatorUrl: string, burnTxHash: Hex): Promise<Payment> {
  const offer = await until(() => requestOffer(facilitatorUrl))
  const { challengeNonce } = offer
  const permit = await signPermit(offer)
  const selfTransfer = { challengeNonce, burnTxHash }
  const official = (payload: JsonObject): JsonObject => ({
    x402Version: Offer.x402Version,
    paymentPayload: { x402Version: Offer.x402Version, accepted: requirementsOf(offer), payload },
    paymentRequirements: requirementsOf(offer),
  })
  return {
    challengeNonce,
    official: { permit: official(permit), selfTransfer: official(selfTransfer) },
    legacy: { permit, selfTransfer },
  }
}

/** Waits while the address pool is empty, because a freshly started daemon is still filling it. */
async function requestOffer(facilitatorUrl: string): Promise<FacilitatorApi.ChallengeOffer | undefined> {
  const response = await fetch(`${facilitatorUrl}/challenge`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ amount: '1000' }),
  })
  const body = await response.json()
  if (response.status === 503 && Object(body).reason === 'address_pool_empty') return undefined
  const parsed = FacilitatorApi.parseChallenge(body)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.value
}

function requirementsOf(offer: FacilitatorApi.ChallengeOffer): JsonObject {
  const { challengeNonce, expiresAt, helper = '', deadline = 0 } = offer
  return {
    scheme: Offer.scheme,
    network: Network.format(offer.chainId),
    asset: offer.token,
    amount: offer.amount,
    payTo: offer.payTo,
    maxTimeoutSeconds: 300,
    extra: { challengeNonce, expiresAt, helper, deadline },
  }
}

async function signPermit(offer: FacilitatorApi.ChallengeOffer): Promise<JsonObject> {
  const account = privateKeyToAccount(generatePrivateKey())
  const [token, helper, payTo, payer] = [offer.token, offer.helper, offer.payTo, account.address].map(
    parseAddress,
  )
  const [value, nonce, deadline] = [offer.amount, '0', `${offer.deadline}`].map(parseBaseUnits)
  const challengeNonce = parseChallengeNonce(offer.challengeNonce)
  if (!token || !helper || !payTo || !payer || !challengeNonce) throw new Error('not a gasless offer')
  if (value === undefined || nonce === undefined || deadline === undefined) throw new Error('not an offer')
  const permit = await account.signTypedData(
    TypedData.permitTypedData(TypedData.permitDomain(devnetToken.name, offer.chainId, token), {
      owner: payer,
      spender: helper,
      value,
      nonce,
      deadline,
    }),
  )
  const burnAuthSig = await account.signTypedData(
    TypedData.burnAuthorizationTypedData(TypedData.burnAuthorizationDomain(offer.chainId, helper), {
      token,
      payer,
      burnAddress: payTo,
      value,
      challengeNonce,
      deadline,
    }),
  )
  return {
    challengeNonce,
    payer,
    permit: {
      value: `${value}`,
      nonce: '0',
      deadline: `${deadline}`,
      v: Number.parseInt(permit.slice(130), 16),
      r: permit.slice(0, 66),
      s: `0x${permit.slice(66, 130)}`,
    },
    burnAuthSig,
  }
}
