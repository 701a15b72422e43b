export type ArtifactErrorCode = 'artifacts_missing' | 'artifacts_malformed' | 'artifacts_altered'

/** Thrown when the artifacts cannot be used. */
export class ArtifactError extends Error {
  override readonly name = 'ArtifactError'
  readonly code: ArtifactErrorCode

  constructor(code: ArtifactErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
