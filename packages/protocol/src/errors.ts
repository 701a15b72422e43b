/** Thrown for failures of the world or the operator, with a stable code and the original cause. */
export class SvcError extends Error {
  readonly code: string

  constructor(code: string, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'SvcError'
    this.code = code
  }
}

/** Ends a switch over a union: compiles only while every case is handled. */
export function unreachable(value: never): never {
  throw new SvcError('unreachable', `unexpected value ${JSON.stringify(value)}`)
}
