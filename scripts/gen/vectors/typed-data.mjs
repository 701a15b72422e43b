import { parseAddress, parseBaseUnits, parseChallengeNonce, TypedData } from '@svc-zerc20/protocol'
import { keccak256, stringToHex } from 'viem'
import * as example from '../example.mjs'
import { vectorFile } from './vector-file.mjs'

const description =
  'EIP-712 messages of the gasless path, signed with "account" (a public key pair: never fund it). "typeHash" is keccak256 of "type", "domainSeparator" the hash of "domain", "digest" what is signed, "signature" r, s and v in 65 bytes, deterministic by RFC 6979. Numbers of a message are decimal strings. The first two are the signatures of "gasless permit" in payloads.json.'

const { addressOf, hashOf } = example
const max = parseBaseUnits(`${2n ** 256n - 1n}`)
const zero = parseBaseUnits('0')
const zeroAddress = parseAddress(`0x${'00'.repeat(20)}`)
const allBits = parseAddress(`0x${'ff'.repeat(20)}`)

const permits = [
  ['permit of the example', example.permitDomain, example.permitMessage],
  [
    'permit of a token whose name is not ASCII',
    TypedData.permitDomain('Privé Ŧoken 🧾', 1, parseAddress(addressOf('other token'))),
    { ...example.permitMessage, nonce: parseBaseUnits('41') },
  ],
  [
    'permit with every number at its greatest',
    TypedData.permitDomain('', Number.MAX_SAFE_INTEGER, allBits),
    { owner: allBits, spender: allBits, value: max, nonce: max, deadline: max },
  ],
]

const burns = [
  ['burn authorization of the example', example.burnDomain, example.burnMessage],
  [
    'burn authorization on another chain',
    TypedData.burnAuthorizationDomain(8453, parseAddress(addressOf('helper'))),
    example.burnMessage,
  ],
  [
    'burn authorization of nothing but zeros',
    TypedData.burnAuthorizationDomain(1, zeroAddress),
    {
      token: zeroAddress,
      payer: zeroAddress,
      burnAddress: zeroAddress,
      value: zero,
      challengeNonce: parseChallengeNonce(`0x${'00'.repeat(32)}`),
      deadline: zero,
    },
  ],
  [
    'burn authorization with every number at its greatest',
    TypedData.burnAuthorizationDomain(Number.MAX_SAFE_INTEGER, allBits),
    {
      ...example.burnMessage,
      value: max,
      challengeNonce: parseChallengeNonce(hashOf('other nonce')),
      deadline: max,
    },
  ],
]

const plain = (message) =>
  Object.fromEntries(
    Object.entries(message).map(([key, value]) => [key, typeof value === 'bigint' ? `${value}` : value]),
  )

async function vector(name, type, typedData, digestOf) {
  const { domain, primaryType, message } = typedData
  const separator = TypedData.domainSeparator(domain)
  return {
    name,
    primaryType,
    type,
    typeHash: keccak256(stringToHex(type)),
    domain,
    domainSeparator: TypedData.digestToHex(separator),
    message: plain(message),
    digest: TypedData.digestToHex(digestOf(separator, message)),
    signature: await example.sign(typedData),
  }
}

/** test/vectors/protocol/typed-data.json */
export async function renderTypedData() {
  const { permitType, burnAuthorizationType, permitDigest, burnAuthorizationDigest } = TypedData
  const [permit, ...otherPermits] = permits.map(([name, domain, message]) =>
    vector(name, permitType, TypedData.permitTypedData(domain, message), permitDigest),
  )
  const [burn, ...otherBurns] = burns.map(([name, domain, message]) =>
    vector(
      name,
      burnAuthorizationType,
      TypedData.burnAuthorizationTypedData(domain, message),
      burnAuthorizationDigest,
    ),
  )
  const cases = await Promise.all([permit, burn, ...otherPermits, ...otherBurns])
  const account = { privateKey: example.payerKey, address: example.payer }
  return vectorFile(description, { account, cases })
}
