/** A second facilitator that a test can start, stop and start again. The network's own facilitator stays idle. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { developmentRoles } from '@svc-zerc20/devnet'
import { parse, stringify } from 'smol-toml'
import { movableClock } from '../../../test/support/clocks.js'
import { until } from '../../../test/support/until.js'
// The built files, because worker threads can only load those.
import { parseConfig } from '../dist/config/config.js'
import { readSecrets } from '../dist/config/secrets/secrets.js'
import { startFacilitator } from '../dist/start/start.js'
import type { LogEvent } from '../dist/telemetry/events.js'
import type { TestNetwork } from './network.js'
import type { ChallengeOffer } from './payment.js'

type Tables = Record<string, Record<string, unknown>>

export async function startOwnFacilitator(
  net: Pick<TestNetwork, 'configFile' | 'directory' | 'adminToken'>,
  options: {
    journal: string
    config?: Tables
    clock?: ReturnType<typeof movableClock>
    isCopyAccepted?: boolean
    /** Further variables of its environment. */
    env?: Record<string, string>
  },
) {
  const { treasury, relayer } = developmentRoles
  const tables = parse(readFileSync(net.configFile, 'utf8')) as unknown as Tables
  const laid = { settlement: { journal: join(net.directory, options.journal) }, listen: { port: 0 } }
  for (const given of [laid as Tables, options.config ?? {}]) {
    for (const [table, keys] of Object.entries(given)) tables[table] = { ...tables[table], ...keys }
  }
  const config = parseConfig(stringify(tables))
  const { secrets } = readSecrets(config, {
    SVC_TREASURY_PK: treasury.privateKey,
    SVC_RELAYER_PK: relayer.privateKey,
    SVC_ADMIN_TOKEN: net.adminToken,
    ...options.env,
  })
  const clock = options.clock ?? movableClock()
  const events: LogEvent[] = []
  const { url, close } = await startFacilitator({
    config,
    secrets,
    clock,
    ...(options.isCopyAccepted !== undefined && { isCopyAccepted: options.isCopyAccepted }),
    log: (event) => events.push(event),
  })
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, init)
    return (await response.json()) as Record<string, unknown>
  }
  const post = (path: string, body: unknown) =>
    send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return {
    url,
    close,
    clock,
    events,
    post,
    admin: (path: string) =>
      send(`/admin${path}`, { headers: { authorization: `Bearer ${net.adminToken}` } }),
    /** Asked for until there is an address: on a busy machine the first is mined later than a caller waits. */
    challenge: (amount = '1000') =>
      until(async () => {
        const answer = await post('/challenge', { amount })
        const isLater = answer.reason === 'address_pool_empty' || answer.reason === 'overloaded'
        return !isLater && (answer as unknown as ChallengeOffer)
      }),
    reported: (event: LogEvent['event']) => events.filter((told) => told.event === event),
  }
}
