export type ArtifactErrorCode = 'artifacts_missing' | 'artifacts_malformed' | 'artifacts_altered'

/** The artifacts cannot be used as they are. */
export class ArtifactError extends Error {
  override readonly name = 'ArtifactError'
  readonly code: ArtifactErrorCode

  constructor(code: ArtifactErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
