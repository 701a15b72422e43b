/** The facilitator of a local network: its configuration file, its keys, and where it runs. */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StartOptions, WrittenEvent } from '@svc-zerc20/facilitator'
import { developmentRoles } from '../node/accounts.js'
import type { Daemons } from './child.js'
import { type ConfigTables, facilitatorConfig, renderConfig, withOverrides } from './facilitator-config.js'
import { type FacilitatorEnv, startFacilitatorDaemon, startFacilitatorHere } from './services.js'

/** Clock, randomness and log of a facilitator in this process. */
export type InProcess = Partial<Pick<StartOptions, 'clock' | 'random' | 'log'>>

export type FacilitatorPart = {
  readonly facilitatorUrl: string
  readonly configFile: string
  readonly adminToken: string
  /** Events of the in-process facilitator, in order. */
  readonly events: readonly WrittenEvent[]
}

export async function startFacilitatorPart(options: {
  base: Parameters<typeof facilitatorConfig>[0]
  /** Laid over the base one after the other. */
  overrides: readonly ConfigTables[]
  directory: string
  daemons: Daemons
  onClose: (closer: () => Promise<void>) => void
  inProcess?: InProcess
  /** Whether mints come from a key of their own. */
  minterKey: boolean
  /** Present when batch proofs are made by a decider. */
  deciderToken?: string
  /** Further variables. */
  environment?: Readonly<Record<string, string>>
  signal?: AbortSignal
}): Promise<FacilitatorPart> {
  const { directory, inProcess, signal } = options
  const configText = renderConfig(options.overrides.reduce(withOverrides, facilitatorConfig(options.base)))
  const configFile = join(directory, 'facilitator.toml')
  writeFileSync(configFile, configText)
  const adminToken = randomBytes(24).toString('hex')
  const env: FacilitatorEnv = {
    SVC_TREASURY_PK: developmentRoles.treasury.privateKey,
    SVC_RELAYER_PK: developmentRoles.relayer.privateKey,
    ...(options.minterKey && { SVC_MINTER_PK: developmentRoles.minter.privateKey }),
    SVC_ADMIN_TOKEN: adminToken,
    ...(options.deciderToken !== undefined && { SVC_DECIDER_TOKEN: options.deciderToken }),
    ...options.environment,
  }
  const events: WrittenEvent[] = []
  if (inProcess) {
    const facilitator = await startFacilitatorHere(configText, env, heardBy(events, inProcess))
    options.onClose(facilitator.close)
    return { facilitatorUrl: facilitator.url, configFile, adminToken, events }
  }
  const daemon = await startFacilitatorDaemon({ configFile, env, directory, ...(signal && { signal }) })
  return { facilitatorUrl: options.daemons.add('facilitator', daemon), configFile, adminToken, events }
}

const heardBy = (events: WrittenEvent[], { clock, random, log }: InProcess) => ({
  log(event: WrittenEvent) {
    events.push(event)
    log?.(event)
  },
  ...(clock && { clock }),
  ...(random && { random }),
})
