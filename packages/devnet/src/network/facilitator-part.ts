/** The facilitator of a local network: its configuration file, its keys, and where it runs. */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LogEvent, StartOptions } from '@svc-zerc20/facilitator'
import { developmentRoles } from '../node/accounts.js'
import type { Daemons } from './child.js'
import { type ConfigTables, facilitatorConfig, renderConfig, withOverrides } from './facilitator-config.js'
import type { FrontDoor } from './front-door.js'
import { type FacilitatorEnv, startFacilitatorDaemon, startFacilitatorHere } from './services.js'

/** Clock, randomness and log of a facilitator in this process. */
export type InProcess = Partial<Pick<StartOptions, 'clock' | 'random' | 'log'>>

export type FacilitatorPart = {
  readonly facilitatorUrl: string
  readonly configFile: string
  readonly adminToken: string
  /** Events of the in-process facilitator, in order. */
  readonly events: readonly LogEvent[]
  /** The daemons behind the URL, when there are two. */
  readonly facilitators?: readonly FacilitatorProcess[]
}

export type FacilitatorProcess = {
  readonly name: string
  readonly url: string
  readonly pid: number
  readonly logFile: string
}

export async function startFacilitatorPart(options: {
  base: Parameters<typeof facilitatorConfig>[0]
  /** Laid over the base one after the other. */
  overrides: readonly ConfigTables[]
  directory: string
  daemons: Daemons
  onClose: (closer: () => Promise<void>) => void
  inProcess?: InProcess
  /** Whether mints come from their own key. */
  minterKey: boolean
  /** Present when batch proofs are made by a decider. */
  deciderToken?: string
  /** Further variables. */
  environment?: Readonly<Record<string, string>>
  /** Starts two daemons that share a ledger, behind one door. The second one has these variables beside the others. */
  pair?: { readonly door: FrontDoor; readonly secondEnv: Readonly<Record<string, string>> }
  signal?: AbortSignal
}): Promise<FacilitatorPart> {
  const { directory, daemons, inProcess, signal } = options
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
  const events: LogEvent[] = []
  const told = { configFile, adminToken, events }
  if (inProcess) {
    const facilitator = await startFacilitatorHere(configText, env, heardBy(events, inProcess))
    options.onClose(facilitator.close)
    return { ...told, facilitatorUrl: facilitator.url }
  }
  const start = (logFile: string, more: Readonly<Record<string, string>> = {}) =>
    startFacilitatorDaemon({
      configFile,
      env: { ...env, ...more },
      logFile: join(directory, logFile),
      ...(signal && { signal }),
    })
  if (!options.pair) {
    return { ...told, facilitatorUrl: daemons.add('facilitator', await start('facilitator.log')) }
  }
  const { door, secondEnv } = options.pair
  const facilitators: FacilitatorProcess[] = []
  for (const { name, file, more } of [
    { name: 'facilitator 1', file: 'facilitator.log' },
    { name: 'facilitator 2', file: 'facilitator-2.log', more: secondEnv },
  ]) {
    const daemon = await start(file, more)
    const url = daemons.add(name, daemon, 'facilitator')
    door.add(url)
    facilitators.push({ name, url, pid: daemon.pid, logFile: join(directory, file) })
  }
  return { ...told, facilitatorUrl: door.url, facilitators }
}

const heardBy = (events: LogEvent[], { clock, random, log }: InProcess) => ({
  log(event: LogEvent) {
    events.push(event)
    log?.(event)
  },
  ...(clock && { clock }),
  ...(random && { random }),
})
