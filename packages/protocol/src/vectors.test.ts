/** Checks the committed vectors against this code and, where one exists, against an independent implementation. */
import { readFileSync } from 'node:fs'
import { decodePaymentSignatureHeader } from '@x402/core/http'
import { isPaymentPayloadV2, isPaymentRequiredV2 } from '@x402/core/schemas'
import { x402ResourceServer } from '@x402/core/server'
import {
  type Hex,
  hashTypedData,
  keccak256,
  recoverTypedDataAddress,
  stringToHex,
  type TypedDataDomain,
  domainSeparator as viemDomainSeparator,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { parseAmount, parseBaseUnits } from './brand.js'
import { parsePaymentRequest, parseSettleRequest } from './facilitator-api.js'
import * as Headers from './headers.js'
import type { JsonObject } from './json.js'
import * as Network from './network.js'
import * as Offer from './offer.js'
import * as Payload from './payload.js'
import * as TypedData from './typed-data.js'

const load = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`../../../test/vectors/protocol/${name}.json`, import.meta.url), 'utf8'))

describe('amounts.json', () => {
  const { cases } = load<{ cases: { input: unknown; baseUnits: boolean; amount: boolean }[] }>('amounts')

  it.each(cases)(
    'reads $input as base units: $baseUnits, as an amount: $amount',
    ({ input, baseUnits, amount }) => {
      expect(parseBaseUnits(input)).toBe(baseUnits ? BigInt(String(input)) : undefined)
      expect(parseAmount(input)).toBe(amount ? BigInt(String(input)) : undefined)
    },
  )
})

describe('networks.json', () => {
  const { cases } = load<{ cases: { network: string; chainId: number | null }[] }>('networks')

  it.each(cases)('R-001 reads $network as chain $chainId', ({ network, chainId }) => {
    expect(Network.parseChainId(network)).toBe(chainId ?? undefined)
  })
})

describe('headers.json', () => {
  type File = {
    headerCharsMax: number
    accepted: { name: string; text: string; header: string }[]
    refused: { name: string; header: string }[]
  }
  const { headerCharsMax, accepted, refused } = load<File>('headers')

  it.each(accepted)('R-003 reads $name as the official decoder does', ({ text, header }) => {
    const decoded = Headers.decode(header)
    expect(Buffer.from(header, 'base64').toString('utf8')).toBe(text)
    expect(decoded.ok && JSON.stringify(decoded.value)).toBe(JSON.stringify(JSON.parse(text)))
    expect(JSON.stringify(decodePaymentSignatureHeader(header))).toBe(JSON.stringify(JSON.parse(text)))
  })

  it.each(refused)('R-003 refuses $name', ({ header }) => {
    expect(Headers.decode(header)).toMatchObject({ ok: false, reason: 'malformed_request' })
  })

  it('R-002 R-003 carries a 402 and two payments that the official schemas accept', () => {
    const valuesOf = (prefix: string) =>
      accepted.filter(({ name }) => name.startsWith(prefix)).map(({ text }): JsonObject => JSON.parse(text))
    const required = valuesOf('PAYMENT-REQUIRED')[0] ?? {}
    const accepts = required.accepts as JsonObject[]
    const payments = valuesOf('PAYMENT-SIGNATURE')
    expect(isPaymentRequiredV2(required)).toBe(true)
    expect(payments).toHaveLength(2)
    for (const payment of payments) {
      expect(isPaymentPayloadV2(payment)).toBe(true)
      expect(accepts.some((own) => Offer.matches(payment.accepted, own))).toBe(true)
      expect(Payload.parse(payment.payload).ok).toBe(true)
    }
  })

  it('states the size limit that this code keeps', () => {
    expect(headerCharsMax).toBe(Headers.headerCharsMax)
  })
})

describe('matching.json', () => {
  type Case = { name: string; own: JsonObject; echoed: unknown; matches: boolean }
  const { cases } = load<{ cases: Case[] }>('matching')
  const official = new x402ResourceServer()

  it.each(cases)('R-022 R-023 $name matches: $matches', ({ own, echoed, matches }) => {
    const payment = { x402Version: 2, accepted: echoed, payload: {} }
    expect(Offer.matches(echoed, own)).toBe(matches)
    expect(official.findMatchingRequirements([own as never], payment as never) !== undefined).toBe(matches)
  })
})

describe('payloads.json', () => {
  type PayloadCase = { name: string; payload: unknown; expected: string; canonical?: JsonObject }
  type RequestCase = { name: string; endpoint: string; body: unknown; expected: string; legacy?: boolean }
  const { payloads, requests } = load<{ payloads: PayloadCase[]; requests: RequestCase[] }>('payloads')

  it.each(payloads)('R-024 R-031 R-032 $name: $expected', ({ payload, expected, canonical }) => {
    const parsed = Payload.parse(payload)
    expect(parsed.ok ? parsed.value.kind : parsed.reason).toBe(expected)
    expect(parsed.ok ? Payload.toWire(parsed.value) : undefined).toEqual(canonical)
  })

  it.each(requests)(
    'R-121 R-122 R-172 $endpoint, $name: $expected',
    ({ endpoint, body, expected, legacy }) => {
      const parsed = endpoint === '/verify' ? parsePaymentRequest(body) : parseSettleRequest(body)
      expect(parsed.ok ? parsed.value.payload.kind : parsed.reason).toBe(expected)
      expect(parsed.ok ? parsed.value.requirements === undefined : undefined).toBe(legacy)
    },
  )
})

describe('typed-data.json', () => {
  type Case = {
    name: string
    primaryType: 'Permit' | 'BurnAuthorization'
    type: string
    typeHash: Hex
    domain: TypedDataDomain
    domainSeparator: Hex
    message: Record<string, string>
    digest: Hex
    signature: Hex
  }
  type File = { account: { privateKey: Hex; address: Hex }; cases: Case[] }
  const { account, cases } = load<File>('typed-data')
  const types = { ...TypedData.permitTypes, ...TypedData.burnAuthorizationTypes }

  it('names the address of its key', () => {
    expect(privateKeyToAccount(account.privateKey).address.toLowerCase()).toBe(account.address)
  })

  it.each(cases)('R-035 R-036 $name hashes and recovers for viem', async (vector) => {
    const { primaryType, type, domain, message, signature } = vector
    const typedData = { domain, types, primaryType, message } as never
    expect(keccak256(stringToHex(type))).toBe(vector.typeHash)
    expect(viemDomainSeparator({ domain })).toBe(vector.domainSeparator)
    expect(hashTypedData(typedData)).toBe(vector.digest)
    const signer = await recoverTypedDataAddress({ ...(typedData as object), signature } as never)
    expect(signer.toLowerCase()).toBe(account.address)
  })

  it('R-024 holds the very signatures of the permit payload', () => {
    const { payloads } = load<{ payloads: { payload: unknown }[] }>('payloads')
    const parsed = Payload.parse(payloads[0]?.payload)
    if (!parsed.ok || parsed.value.kind !== 'permit') throw new Error('the first payload is no permit')
    const { r, s, v } = parsed.value.permit
    expect(`${r}${s.slice(2)}${v.toString(16)}`).toBe(cases[0]?.signature)
    expect(parsed.value.burnAuthSig).toBe(cases[1]?.signature)
  })
})
