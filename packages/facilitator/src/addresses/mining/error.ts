export type MineErrorCode = 'miner_closed' | 'miner_queue_full' | 'miner_crashed' | 'miner_exhausted'

/** Why an address could not be mined. */
export class MineError extends Error {
  override readonly name = 'MineError'
  readonly code: MineErrorCode

  constructor(code: MineErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
