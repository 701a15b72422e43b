/** Messages between the daemon and the thread of its engine. */
import { SvcError } from '@svc-zerc20/protocol'
import type { Request } from '../group.js'
import type { Engine, EngineFigures } from './engine.js'

/** An error as a message: classes do not survive one. */
export type SentError = {
  readonly code: string | undefined
  readonly message: string
  /** Whether it was an `SvcError`. */
  readonly isOurs: boolean
  readonly cause?: SentError
}

export type ToEngine = { readonly kind: 'step'; readonly request: Request } | { readonly kind: 'close' }

export type FromEngine =
  | ({ readonly kind: 'open'; readonly figures: EngineFigures } & Pick<Engine, 'id' | 'report' | 'isCopy'>)
  | { readonly kind: 'refused'; readonly error: SentError }
  | {
      readonly kind: 'replies'
      readonly replies: readonly ({ readonly value: unknown } | { readonly error: SentError })[]
      readonly figures: EngineFigures
    }
  | { readonly kind: 'failure'; readonly error: SentError; readonly figures: EngineFigures }

export function errorOf({ code, message, isOurs, cause }: SentError): Error {
  const options = cause && { cause: errorOf(cause) }
  return isOurs
    ? new SvcError(code as SvcError['code'], message, options)
    : Object.assign(new Error(message, options), { code })
}

/**
 * The built file of the thread. It lies beside this one, also in a bundle; the sources, from which tests run, have it in
 * their build.
 */
export const threadFile = new URL(
  import.meta.url.endsWith('.ts') ? '../../../bundle/engine-worker.js' : './engine-worker.js',
  import.meta.url,
)
