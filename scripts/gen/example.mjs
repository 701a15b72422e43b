// One payment with fixed values. The vectors and the worked example of docs/reference/protocol.md share it.
import {
  Offer,
  Payload,
  parseAddress,
  parseBaseUnits,
  parseChallengeNonce,
  TypedData,
} from '@svc-zerc20/protocol'
import { getAddress, keccak256, parseSignature, stringToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** 32 bytes derived from a label, so that anybody can check them. */
export const hashOf = (label) => keccak256(stringToHex(`svc-zerc20 vector: ${label}`))
export const addressOf = (label) => getAddress(`0x${hashOf(label).slice(-40)}`)

/** Public, for vectors only. */
export const payerKey = `0x${'11'.repeat(32)}`
const account = privateKeyToAccount(payerKey)

export const payer = account.address.toLowerCase()
const tokenName = 'Private Dollar'
const issuedAt = 1_800_000_000
const burnTxHash = hashOf('burn')

/** The answer of `POST /challenge`. */
const challenge = {
  payTo: addressOf('payTo'),
  amount: '10000',
  token: addressOf('token'),
  chainId: 31337,
  challengeNonce: hashOf('challengeNonce'),
  expiresAt: issuedAt + 300,
  helper: addressOf('helper'),
  deadline: issuedAt + 300,
}

export const offer = Offer.fromChallenge(challenge, issuedAt)

export const paymentRequired = {
  x402Version: 2,
  error: 'Payment required',
  resource: {
    url: 'https://shop.example/report',
    description: 'Market report',
    mimeType: 'application/json',
  },
  accepts: [offer],
}

export const permitDomain = TypedData.permitDomain(
  tokenName,
  challenge.chainId,
  parseAddress(challenge.token),
)
export const permitMessage = {
  owner: parseAddress(payer),
  spender: parseAddress(challenge.helper),
  value: parseBaseUnits(challenge.amount),
  nonce: parseBaseUnits('0'),
  deadline: parseBaseUnits(`${challenge.deadline}`),
}

export const burnDomain = TypedData.burnAuthorizationDomain(challenge.chainId, parseAddress(challenge.helper))
export const burnMessage = {
  token: parseAddress(challenge.token),
  payer: parseAddress(payer),
  burnAddress: parseAddress(challenge.payTo),
  value: parseBaseUnits(challenge.amount),
  challengeNonce: parseChallengeNonce(challenge.challengeNonce),
  deadline: parseBaseUnits(`${challenge.deadline}`),
}

export const sign = (typedData) => account.signTypedData(typedData)

async function signPermitPayload() {
  const { r, s, v } = parseSignature(await sign(TypedData.permitTypedData(permitDomain, permitMessage)))
  const { value, nonce, deadline } = permitMessage
  return Payload.toWire({
    kind: 'permit',
    challengeNonce: challenge.challengeNonce,
    payer,
    permit: { value, nonce, deadline, v: Number(v), r, s },
    burnAuthSig: await sign(TypedData.burnAuthorizationTypedData(burnDomain, burnMessage)),
  })
}

export const permitPayload = await signPermitPayload()
export const selfTransferPayload = { challengeNonce: challenge.challengeNonce, burnTxHash }

export const paymentOf = (payload) => ({ x402Version: 2, accepted: offer, payload })

export const requestOf = (payload) => ({
  x402Version: 2,
  paymentPayload: paymentOf(payload),
  paymentRequirements: offer,
})

export const settleResponse = {
  success: true,
  transaction: burnTxHash,
  network: offer.network,
  payer,
  extra: { phase: 'accepted' },
}
