/** Compares answers with the OpenAPI document, and remembers which of the documented ones were seen. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import type { Answer } from './network.js'

export type ApiDocument = {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>
  components: object
}
type Response = { content: Record<string, { schema?: object }> }

export type DocumentedAnswers = ReturnType<typeof createDocumentedAnswers>

export function createDocumentedAnswers(document: ApiDocument) {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addSchema({ $id: 'api', components: closed(document.components) as object })
  /** Compiled once each, because that takes longer than all looks. */
  const validators = new Map<string, ValidateFunction>()
  function validatorOf(ref: string): ValidateFunction {
    const known = validators.get(ref) ?? ajv.compile({ $ref: `api${ref}` })
    validators.set(ref, known)
    return known
  }
  /** Method, path and status of every answer that was looked at. */
  const seen = new Set<string>()

  return {
    check<T extends Answer>(method: string, path: string, answer: T): T {
      const template = path
        .split('?')[0]
        ?.replace(/\/payments\/0x[^/]+/, '/payments/{challengeNonce}') as string
      const responses = document.paths[template]?.[method.toLowerCase()]?.responses
      const response = responses?.[`${answer.status}`]
      const what = `${method} ${template} ${answer.status}`
      expect(response, `${what} is not documented: ${answer.text}`).toBeDefined()
      const type = answer.headers.get('content-type') ?? ''
      const contents = Object.entries(response?.content ?? {})
      const [, media] = contents.find(([documented]) => type.includes(documented)) ?? []
      expect(media, `${what} as ${type}`).toBeDefined()
      if (media?.schema) {
        const fits = validatorOf((media.schema as { $ref: string }).$ref)
        expect(fits(answer.body), `${what}: ${ajv.errorsText(fits.errors)} in ${answer.text}`).toBe(true)
      }
      if (answer.status === 429 || answer.status === 503)
        expect(answer.headers.has('retry-after'), what).toBe(true)
      seen.add(what)
      return answer
    },

    /** Documented answers that nobody has given yet, of the paths that `isMeant`. */
    unseen: (isMeant: (path: string) => boolean): string[] =>
      Object.entries(document.paths)
        .filter(([path]) => isMeant(path))
        .flatMap(([path, methods]) =>
          Object.entries(methods).flatMap(([method, { responses }]) =>
            Object.keys(responses)
              .filter((status) => status !== 'default')
              .map((status) => `${method.toUpperCase()} ${path} ${status}`),
          ),
        )
        .filter((what) => !seen.has(what)),
  }
}

/** The same schemas, but a field that is not documented is a mistake: clients ignore it, we do not. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, closed(inner)])
  const copy = Object.fromEntries(entries)
  return 'properties' in copy && copy.type === 'object' ? { ...copy, additionalProperties: false } : copy
}
