/** Reads the facilitator's answers. Unknown keys are dropped; an answer without a required key is undefined. */
import { Json } from '@svc-zerc20/protocol'
import type { FacilitatorClient } from '@x402/core/server'
import type { SettleResponse, VerifyResponse } from '@x402/core/types'

export type Supported = Awaited<ReturnType<FacilitatorClient['getSupported']>>

export function readVerdict(body: unknown): VerifyResponse | undefined {
  if (!Json.isObject(body) || typeof body.isValid !== 'boolean') return undefined
  return {
    isValid: body.isValid,
    ...texts(body, 'invalidReason', 'invalidMessage', 'payer'),
    ...objects(body),
  }
}

export function readSettlement(body: unknown): SettleResponse | undefined {
  if (!Json.isObject(body) || typeof body.success !== 'boolean') return undefined
  const { success, transaction, network } = body
  if (typeof transaction !== 'string' || typeof network !== 'string') return undefined
  return {
    success,
    transaction,
    network: network as SettleResponse['network'],
    ...texts(body, 'errorReason', 'errorMessage', 'payer', 'amount'),
    ...objects(body),
  }
}

export function readSupported(body: unknown): Supported | undefined {
  if (!Json.isObject(body) || !Array.isArray(body.kinds)) return undefined
  const isKind = (kind: unknown) =>
    Json.isObject(kind) &&
    typeof kind.x402Version === 'number' &&
    typeof kind.scheme === 'string' &&
    typeof kind.network === 'string'
  if (!body.kinds.every(isKind)) return undefined
  const { kinds, extensions = [], signers = {} } = body
  return { kinds, extensions, signers } as Supported
}

/** Reads an error body `{ error, reason }`, each cut to one line of bounded length. */
export function readProblem(body: unknown): { error?: string; reason?: string } {
  if (!Json.isObject(body)) return {}
  const { error, reason } = texts(body, 'error', 'reason')
  return { ...(error && { error: oneLine(error) }), ...(reason && { reason: oneLine(reason) }) }
}

const problemCharactersMax = 300

const oneLine = (text: string) =>
  text
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, problemCharactersMax)

function texts<Key extends string>(body: Json.JsonObject, ...keys: Key[]): Partial<Record<Key, string>> {
  const present = keys.filter((key) => typeof body[key] === 'string').map((key) => [key, body[key]])
  return Object.fromEntries(present)
}

function objects(body: Json.JsonObject): Pick<SettleResponse, 'extensions' | 'extra'> {
  const keys = ['extensions', 'extra'].filter((key) => Json.isObject(body[key]))
  return Object.fromEntries(keys.map((key) => [key, body[key]]))
}
