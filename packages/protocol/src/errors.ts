import type { ErrorCode } from './error-codes.js'

/** An error with a stable code of its table. */
export class CodedError<Code extends string> extends Error {
  readonly code: Code

  constructor(code: Code, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.code = code
  }
}

/** Thrown for failures of the world or the operator, with the original cause. */
export class SvcError extends CodedError<ErrorCode> {
  override readonly name = 'SvcError'
}

/** Ends a switch over a union: compiles only while every case is handled. */
export function unreachable(value: never): never {
  throw new SvcError('unreachable', `unexpected value ${JSON.stringify(value)}`)
}
