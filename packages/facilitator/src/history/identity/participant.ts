/** Who asks for the history. */
import type { UnixSeconds } from '@svc-zerc20/protocol'
import type { ParticipantRole } from '../../config/secrets/history.js'

/** A participant that has shown a good token. */
export type Participant = {
  readonly role: ParticipantRole
  readonly tenant: string
  readonly actor: string
  /** The end of the token. */
  readonly expiresAt: UnixSeconds
}

/** A token that was just made. */
export type IssuedToken = {
  readonly token: string
  readonly role: ParticipantRole
  readonly expiresAt: UnixSeconds
}
