import { FacilitatorApi, Payload } from '@svc-zerc20/protocol'
import { offer, permitPayload, requestOf, selfTransferPayload } from '../example.mjs'
import { expectSame, vectorFile } from './vector-file.mjs'

const description =
  'Payloads and request bodies. "expected" is the shape that is read ("permit" or "self-transfer"), or the reason code of the refusal. In "payloads", "payload" is the object inside a PaymentPayload, and "canonical" how it is written back: hex in lower case, unknown keys gone. In "requests", "body" is posted to "endpoint"; "legacy" tells that the body carries no requirements.'

const { challengeNonce, payer, permit, burnAuthSig } = permitPayload
const { burnTxHash } = selfTransferPayload
const upper = (hex) => `0x${hex.slice(2).toUpperCase()}`
const withPermit = (fields) => ({ ...permitPayload, permit: { ...permit, ...fields } })

const payloads = [
  ['gasless permit', permitPayload, 'permit'],
  ['self-transfer', selfTransferPayload, 'self-transfer'],
  ['hex in upper case', { ...permitPayload, payer: upper(payer), burnAuthSig: upper(burnAuthSig) }, 'permit'],
  ['unknown keys', { ...selfTransferPayload, memo: 'x', kind: 'permit' }, 'self-transfer'],
  ['unknown keys inside the permit', withPermit({ token: 'x' }), 'permit'],
  ['a permit and a burnTxHash', { ...permitPayload, burnTxHash }, 'permit'],
  [
    'the greatest numbers',
    withPermit({ value: `${2n ** 256n - 1n}`, nonce: `${2n ** 256n - 1n}`, v: 255 }),
    'permit',
  ],
  ['no permit', { challengeNonce, payer, burnAuthSig }, 'malformed_payload'],
  ['no payer', { challengeNonce, permit, burnAuthSig }, 'malformed_payload'],
  ['no burnAuthSig', { challengeNonce, payer, permit }, 'malformed_payload'],
  ['only permit beside a burnTxHash', { ...selfTransferPayload, permit }, 'malformed_payload'],
  ['only payer beside a burnTxHash', { ...selfTransferPayload, payer }, 'malformed_payload'],
  ['only burnAuthSig beside a burnTxHash', { ...selfTransferPayload, burnAuthSig }, 'malformed_payload'],
  ['a payer of null beside a burnTxHash', { ...selfTransferPayload, payer: null }, 'malformed_payload'],
  ['a broken permit beside a burnTxHash', { ...permitPayload, permit: {}, burnTxHash }, 'malformed_payload'],
  ['only the challengeNonce', { challengeNonce }, 'malformed_payload'],
  ['no challengeNonce', { burnTxHash }, 'malformed_payload'],
  ['a short challengeNonce', { ...selfTransferPayload, challengeNonce: '0x01' }, 'malformed_payload'],
  ['a burnTxHash without 0x', { challengeNonce, burnTxHash: burnTxHash.slice(2) }, 'malformed_payload'],
  ['a burnTxHash of null', { challengeNonce, burnTxHash: null }, 'malformed_payload'],
  ['a payer of 32 bytes', { ...permitPayload, payer: challengeNonce }, 'malformed_payload'],
  [
    'a burnAuthSig of 64 bytes',
    { ...permitPayload, burnAuthSig: burnAuthSig.slice(0, -2) },
    'malformed_payload',
  ],
  ['a value that is a number', withPermit({ value: 10000 }), 'malformed_payload'],
  ['a value with an exponent', withPermit({ value: '1e4' }), 'malformed_payload'],
  ['a value in hex', withPermit({ value: '0x2710' }), 'malformed_payload'],
  ['a value with a leading zero', withPermit({ value: '010000' }), 'malformed_payload'],
  ['a negative value', withPermit({ value: '-1' }), 'malformed_payload'],
  ['a value of 2^256', withPermit({ value: `${2n ** 256n}` }), 'malformed_payload'],
  ['a deadline that is a number', withPermit({ deadline: 1800000300 }), 'malformed_payload'],
  ['a v that is text', withPermit({ v: '27' }), 'malformed_payload'],
  ['a v above a byte', withPermit({ v: 256 }), 'malformed_payload'],
  ['an s of 31 bytes', withPermit({ s: permit.s.slice(0, -2) }), 'malformed_payload'],
  ['a list', [permitPayload], 'malformed_payload'],
  ['null', null, 'malformed_payload'],
]

const request = requestOf(permitPayload)
const versionOne = {
  x402Version: 1,
  paymentPayload: {
    x402Version: 1,
    scheme: 'svc-zerc20',
    network: 'eip155:31337',
    payload: selfTransferPayload,
  },
  paymentRequirements: offer,
}

const requests = [
  ['the official shape', '/verify', request, 'permit'],
  ['the official shape', '/settle', request, 'permit'],
  ['the official shape, self-transfer', '/settle', requestOf(selfTransferPayload), 'self-transfer'],
  ['unknown keys', '/settle', { ...request, memo: 'x' }, 'permit'],
  ['legacy self-transfer', '/settle', selfTransferPayload, 'self-transfer'],
  ['legacy permit', '/settle', permitPayload, 'permit'],
  ['legacy partial permit', '/settle', { ...selfTransferPayload, payer }, 'malformed_payload'],
  ['legacy bodies are for /settle only', '/verify', selfTransferPayload, 'malformed_request'],
  ['x402 version 1', '/settle', versionOne, 'invalid_x402_version'],
  ['a version as text', '/settle', { ...request, x402Version: '2' }, 'invalid_x402_version'],
  ['no version', '/settle', { ...request, x402Version: undefined }, 'invalid_x402_version'],
  [
    'another scheme',
    '/settle',
    { ...request, paymentRequirements: { ...offer, scheme: 'exact' } },
    'unsupported_scheme',
  ],
  ['a partial permit', '/verify', requestOf({ challengeNonce, payer, permit }), 'malformed_payload'],
  [
    'no accepted',
    '/verify',
    { ...request, paymentPayload: { x402Version: 2, payload: permitPayload } },
    'malformed_payload',
  ],
  [
    'no requirements',
    '/verify',
    { x402Version: 2, paymentPayload: request.paymentPayload },
    'malformed_request',
  ],
  ['no payment', '/verify', { x402Version: 2, paymentRequirements: offer }, 'malformed_request'],
  ['a list', '/settle', [request], 'malformed_request'],
  ['null', '/settle', null, 'malformed_request'],
]

const readBy = { '/verify': FacilitatorApi.parsePaymentRequest, '/settle': FacilitatorApi.parseSettleRequest }

function payloadCase([name, payload, expected]) {
  const parsed = Payload.parse(payload)
  expectSame(name, parsed.ok ? parsed.value.kind : parsed.reason, expected)
  return { name, payload, expected, ...(parsed.ok && { canonical: Payload.toWire(parsed.value) }) }
}

function requestCase([name, endpoint, body, expected]) {
  const parsed = readBy[endpoint](body)
  expectSame(name, parsed.ok ? parsed.value.payload.kind : parsed.reason, expected)
  return {
    name,
    endpoint,
    body,
    expected,
    ...(parsed.ok && { legacy: parsed.value.requirements === undefined }),
  }
}

/** test/vectors/protocol/payloads.json */
export function renderPayloads() {
  return vectorFile(description, { payloads: payloads.map(payloadCase), requests: requests.map(requestCase) })
}
