/** The parts that the others are wired to. */
import type { Clock } from '@svc-zerc20/protocol'
import type { Config } from '../config/config.js'
import type { Secrets } from '../config/secrets/secrets.js'
import type { Profile } from '../config/settings.js'
import type { Telemetry } from '../telemetry/telemetry.js'
import type { ChainSide, Senders } from './chain-side.js'
import type { Storage } from './storage.js'

export type Parts = {
  readonly config: Config
  readonly secrets: Secrets
  readonly profile: Profile
  readonly storage: Storage
  readonly chainSide: ChainSide
  readonly seed: Uint8Array
  readonly clock: Clock
  readonly random: { bytes(length: number): Uint8Array }
  readonly telemetry: Telemetry
}

/** For work under a lease: the storage is fenced by it, and the senders are its own. */
export type LeasedParts = Parts & { readonly senders: Senders }
