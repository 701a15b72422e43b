/** Valid payments, signed before the measurement. All differ. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { tokenAbi } from '@svc-zerc20/contracts'
import { type Deployment, devnetToken } from '@svc-zerc20/devnet'
import {
  type BaseUnits,
  type ChallengeNonce,
  type FacilitatorApi,
  type Address as ParsedAddress,
  TypedData,
} from '@svc-zerc20/protocol'
import { type Address, type Hex, keccak256, parseSignature, toHex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { ChainView } from './chain-view.js'

export type Payment = {
  readonly payer: Address
  /** The body that a resource server posts to `/verify` and `/settle`. */
  readonly body: string
}

/** Makes `count` payments, each by another payer. */
export type MakePayments = (count: number) => Promise<Payment[]>

const price = 1000n
const validSeconds = 3600
/** Challenges requested at once, so that the preparation does not take longer than the measurement. */
const challengesAtOnce = 8

/** The same accounts in every run. Each run has a new chain. */
export function createPayers(count: number): PrivateKeyAccount[] {
  return Array.from({ length: count }, (_, i) => privateKeyToAccount(keccak256(toHex(`bench payer ${i}`))))
}

const resource = { url: 'http://shop.example/report', description: 'a report', mimeType: 'application/json' }

function toBody(requirements: object, payload: object): string {
  return JSON.stringify({
    x402Version: 2,
    paymentPayload: { x402Version: 2, resource, accepted: requirements, payload },
    paymentRequirements: requirements,
  })
}

/** Payments of the scheme svc-zerc20: a challenge for each, then the two signatures of its payer. */
export function createPermitPayments(deps: {
  facilitatorUrl: string
  chain: ChainView
  deployment: Deployment
  payers: readonly PrivateKeyAccount[]
}): MakePayments {
  const { chain, deployment, payers } = deps
  const { chainId } = deployment
  const token = deployment.token.toLowerCase() as ParsedAddress
  const helper = deployment.permitBurner.toLowerCase() as ParsedAddress
  const permitDomain = TypedData.permitDomain(devnetToken.name, chainId, token)
  const burnDomain = TypedData.burnAuthorizationDomain(chainId, helper)

  async function sign(payer: PrivateKeyAccount, permitNonce: bigint): Promise<Payment> {
    const offer = await fetchOffer(deps.facilitatorUrl)
    const owner = payer.address.toLowerCase() as ParsedAddress
    const bound = {
      value: BigInt(offer.amount) as BaseUnits,
      deadline: BigInt(offer.deadline ?? offer.expiresAt) as BaseUnits,
    }
    const permit = { owner, spender: helper, nonce: permitNonce as BaseUnits, ...bound }
    const authorization = {
      token,
      payer: owner,
      burnAddress: offer.payTo.toLowerCase() as ParsedAddress,
      challengeNonce: offer.challengeNonce as ChallengeNonce,
      ...bound,
    }
    const permitSignature = parseSignature(
      await payer.signTypedData(TypedData.permitTypedData(permitDomain, permit)),
    )
    const burnAuthSig = await payer.signTypedData(
      TypedData.burnAuthorizationTypedData(burnDomain, authorization),
    )
    const { payTo, amount, token: asset, chainId: _chainId, ...extra } = offer
    const requirements = {
      scheme: 'svc-zerc20',
      network: `eip155:${chainId}`,
      asset,
      amount,
      payTo,
      maxTimeoutSeconds: validSeconds,
      extra,
    }
    const { r, s, yParity } = permitSignature
    return {
      payer: payer.address,
      body: toBody(requirements, {
        challengeNonce: offer.challengeNonce,
        payer: payer.address,
        permit: {
          value: amount,
          nonce: `${permitNonce}`,
          deadline: `${bound.deadline}`,
          v: 27 + yParity,
          r,
          s,
        },
        burnAuthSig,
      }),
    }
  }

  return async (count) => {
    const chosen = payers.slice(0, count)
    const nonces = await Promise.all(
      chosen.map(({ address }) =>
        chain.read.readContract({
          address: deployment.token,
          abi: tokenAbi,
          functionName: 'nonces',
          args: [address],
        }),
      ),
    )
    const payments: Payment[] = []
    for (let from = 0; from < count; from += challengesAtOnce) {
      const together = chosen.slice(from, Math.min(from + challengesAtOnce, count))
      payments.push(...(await Promise.all(together.map((payer, i) => sign(payer, nonces[from + i] ?? 0n)))))
    }
    return payments
  }
}

/** Waits as long as it is told to: a busy machine mines addresses slowly. */
async function fetchOffer(facilitatorUrl: string): Promise<FacilitatorApi.ChallengeOffer> {
  const response = await fetch(`${facilitatorUrl}/challenge`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ amount: `${price}` }),
  })
  const retryAfter = Number(response.headers.get('retry-after'))
  if (response.status === 503 && retryAfter > 0) {
    await sleep(retryAfter * 1000)
    return fetchOffer(facilitatorUrl)
  }
  if (!response.ok) throw new Error(`no challenge: ${response.status} ${await response.text()}`)
  return (await response.json()) as FacilitatorApi.ChallengeOffer
}

const authorizationTypes = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** Payments of the scheme exact: one EIP-3009 authorization each. */
export function createExactPayments(deps: {
  chainId: number
  token: Address
  tokenName: string
  tokenVersion: string
  payTo: Address
  payers: readonly PrivateKeyAccount[]
  now: () => number
}): MakePayments {
  const { chainId, token, tokenName: name, tokenVersion: version, payTo, payers } = deps
  const requirements = {
    scheme: 'exact',
    network: `eip155:${chainId}`,
    asset: token,
    amount: `${price}`,
    payTo,
    maxTimeoutSeconds: validSeconds,
    extra: { name, version },
  }

  async function sign(payer: PrivateKeyAccount): Promise<Payment> {
    const nowSeconds = Math.floor(deps.now() / 1000)
    const message = {
      from: payer.address,
      to: payTo,
      value: price,
      validAfter: BigInt(nowSeconds - validSeconds),
      validBefore: BigInt(nowSeconds + validSeconds),
      nonce: `0x${randomBytes(32).toString('hex')}` as Hex,
    }
    const signature = await payer.signTypedData({
      domain: { name, version, chainId, verifyingContract: token },
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message,
    })
    const authorization = {
      ...message,
      value: `${message.value}`,
      validAfter: `${message.validAfter}`,
      validBefore: `${message.validBefore}`,
    }
    return { payer: payer.address, body: toBody(requirements, { signature, authorization }) }
  }

  return (count) => Promise.all(payers.slice(0, count).map(sign))
}
