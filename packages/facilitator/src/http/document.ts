/** The OpenAPI 3.1 document, made of the declarations of all routes and the schemas in them. */
import * as z from 'zod'
import { version } from '../package.js'
import { adminRoutes } from './admin/api.js'
import { historyRoutes } from './history/api.js'
import { healthRoutes } from './public/health.js'
import { paymentRoutes } from './public/payments.js'
import type { Answer, Described } from './route.js'
import { components } from './schema-parts.js'

/** Routes of participants exist only with a configured payment history; without one they are not found. */
const routes: readonly Described[] = [...paymentRoutes, ...healthRoutes, ...adminRoutes, ...historyRoutes]

type JsonSchema = Record<string, unknown>

const uri = (id: string) => `#/components/schemas/${id}`

const statusText: Record<number, string> = {
  400: 'The request is not one of this endpoint.',
  401: 'No valid bearer token, or the administrative surface is locked.',
  403: 'The profile of this facilitator, or the role of the participant, does not allow it.',
  404: 'There is no such thing, or not for this caller.',
  409: 'Not yet: what is asked for has not happened, or is not told yet.',
  413: 'The body is too large.',
  415: 'The body is not application/json.',
  429: 'The rate is used up; `Retry-After` says how long to wait.',
  503: 'Not now; `Retry-After` says how long to wait.',
}

export function openApiDocument(): JsonSchema {
  const paths: Record<string, JsonSchema> = {}
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: toOperation(route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'svc-zerc20 facilitator',
      version,
      description:
        'Issues one-time burn addresses, verifies and settles svc-zerc20 payments over x402 v2. Where several daemons ' +
        'share a ledger, one is active. What needs the ledger, any other refuses with 503 `standby` and Retry-After: 1.',
    },
    paths,
    components: {
      schemas: componentSchemas(),
      securitySchemes: {
        admin: { type: 'http', scheme: 'bearer', description: 'The value of SVC_ADMIN_TOKEN.' },
        history: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'An identity token, from a wallet login or from the operator. Good for 15 minutes.',
        },
      },
    },
  }
}

function toOperation(route: Described): JsonSchema {
  const { tag, summary, path, auth, query, body, answer, otherwise, refusal } = route
  const parameters = [...pathParameters(path), ...queryParameters(query)]
  return {
    operationId: operationIdOf(route),
    tags: [tag],
    summary,
    ...(auth && { security: [{ [auth]: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: true, content: { 'application/json': { schema: refTo(body) } } },
    }),
    responses: {
      200: { description: 'The answer.', ...contentOf(answer, otherwise) },
      ...Object.fromEntries(
        refusalsOf(route).map((status) => [
          status,
          { description: statusText[status], ...contentOf(refusal) },
        ]),
      ),
      default: { description: 'Anything unexpected.', ...contentOf(refusal) },
    },
  }
}

/** `GET /admin/payments/{challengeNonce}` is `getAdminPaymentsByChallengeNonce`: generated clients name their functions so. */
const operationIdOf = ({ method, path }: Described): string =>
  method.toLowerCase() +
  path
    .replaceAll('{', 'by-')
    .split(/\W+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')

/** Refusals that follow from what a route takes; only the rest is declared. */
const refusalsOf = ({ path, auth, query, body, refusals = [] }: Described): number[] => [
  ...(auth ? [401] : []),
  ...(auth === 'history' ? [429] : []),
  ...(path.includes('{') ? [404] : []),
  ...(query ? [400] : []),
  ...(body ? [400, 413, 415] : []),
  ...refusals,
]

function contentOf(answer: Answer, otherwise?: Described['otherwise']): JsonSchema {
  const others = otherwise && { [otherwise.contentType]: {} }
  if ('contentType' in answer) return { content: { [answer.contentType]: {}, ...others } }
  return { content: { 'application/json': { schema: refTo(answer) }, ...others } }
}

function refTo(schema: z.ZodType): JsonSchema {
  const id = components.get(schema)?.id
  return id === undefined ? {} : { $ref: uri(id) }
}

const pathParameters = (path: string): JsonSchema[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { $ref: uri('ChallengeNonce') },
  }))

function queryParameters(query: z.ZodObject | undefined): JsonSchema[] {
  if (!query) return []
  return Object.entries(query.shape).map(([name, schema]) => {
    const { $schema: _, description, ...rest } = z.toJSONSchema(schema as z.ZodType, { io: 'input' })
    return { name, in: 'query', required: false, ...(description && { description }), schema: rest }
  })
}

function componentSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(components, { uri, io: 'input' })
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema]),
  )
}
