/** One route of the daemon as the OpenAPI document describes it. */
import type { z } from 'zod'

export type Answer = z.ZodType | { readonly contentType: string }

export type Operation = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly tag: 'payment' | 'operation' | 'admin' | 'history'
  readonly summary: string
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  readonly answer: Answer
  /** Another content type that the caller can choose. */
  readonly otherwise?: { readonly contentType: string }
  /** Needs a bearer token of its surface. */
  readonly isGuarded?: true
  /** Statuses of refusals, and the shape they have on this path. */
  readonly refusals: readonly number[]
  readonly refusal: z.ZodType
}
