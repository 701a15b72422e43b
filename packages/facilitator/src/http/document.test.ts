import { readFileSync } from 'node:fs'
import { FacilitatorApi, Payload, parseAmount } from '@svc-zerc20/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openApiDocument } from './document.js'

const document = openApiDocument()
const ajv = new Ajv2020({ strict: true, allErrors: true, validateSchema: true })
ajv.addSchema({ $id: 'api', components: document.components }, undefined, false, false)
ajv.addVocabulary(['components'])
const fits = (name: string, value: unknown): boolean =>
  ajv.validate({ $ref: `api#/components/schemas/${name}` }, value) as boolean

const vectors = JSON.parse(
  readFileSync(new URL('../../../../test/vectors/protocol/payloads.json', import.meta.url), 'utf8'),
) as {
  payloads: { name: string; payload: unknown; expected: string }[]
  requests: { name: string; endpoint: string; body: unknown; expected: string }[]
}
const isAccepted = (expected: string) => expected === 'permit' || expected === 'self-transfer'

describe('the schemas of the document', () => {
  it.each(vectors.requests)(
    'judge "$name" for $endpoint as the parser does',
    ({ endpoint, body, expected }) => {
      const parse =
        endpoint === '/settle' ? FacilitatorApi.parseSettleRequest : FacilitatorApi.parsePaymentRequest
      expect(parse(body).ok).toBe(isAccepted(expected))
      expect(fits(endpoint === '/settle' ? 'SettleRequest' : 'PaymentRequest', body)).toBe(
        isAccepted(expected),
      )
    },
  )

  /** A pattern cannot say "below 2^256"; the parser does. */
  const beyondSchemas = ['a value of 2^256']

  it.each(vectors.payloads.filter(({ name }) => !beyondSchemas.includes(name)))(
    'judge the payload "$name" as the parser does',
    ({ payload, expected }) => {
      const body = {
        x402Version: 2,
        paymentPayload: { x402Version: 2, accepted: {}, payload },
        paymentRequirements: { scheme: 'svc-zerc20' },
      }
      expect(Payload.parse(payload).ok).toBe(isAccepted(expected))
      expect(fits('PaymentRequest', body)).toBe(isAccepted(expected))
    },
  )

  it('take every amount the parser takes, and refuse what is not even a number', () => {
    const text = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 260n }).map(String),
      fc.string({ maxLength: 12 }),
      fc.constantFrom('0', '01', '-1', '1e3', '0x1', ' 1', '1.0', `${2n ** 248n - 1n}`),
    )
    fc.assert(
      fc.property(text, (amount) => {
        const parsed = parseAmount(amount)
        if (parsed !== undefined) expect(fits('ChallengeRequest', { amount })).toBe(true)
        if (!/^[1-9]\d*$/.test(amount)) expect(fits('ChallengeRequest', { amount })).toBe(false)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('the document', () => {
  it('names each operation once', () => {
    const operations = Object.values(
      document.paths as Record<string, Record<string, { operationId: string }>>,
    )
    const ids = operations.flatMap((path) => Object.values(path).map(({ operationId }) => operationId))
    expect(ids).toContain('getAdminPaymentsByChallengeNonce')
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([])
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('is OpenAPI 3.1 whose references all lead somewhere', () => {
    expect(document.openapi).toBe('3.1.0')
    const text = JSON.stringify(document)
    const { schemas } = document.components as { schemas: Record<string, object> }
    const referenced = new Set([...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name))
    expect(referenced.size).toBeGreaterThan(15)
    for (const name of referenced) expect(Object.keys(schemas)).toContain(name)
    for (const [name, schema] of Object.entries(schemas)) {
      expect(ajv.validateSchema(schema), name).toBe(true)
      expect(schema, name).toHaveProperty('description')
    }
  })
})
