/** A second facilitator on the network of a test, with a configuration that differs from the first one's. */
import { readFileSync } from 'node:fs'
import type { Clock } from '@svc-zerc20/protocol'
// The built files, because worker threads can only load those.
import { type Config, parseConfig } from '../dist/config/config.js'
import type { Environment } from '../dist/config/secrets/environment.js'
import { readSecrets } from '../dist/config/secrets/secrets.js'
import { startFacilitator } from '../dist/start/start.js'

export function startBeside(
  { configFile }: { configFile: string },
  {
    profile,
    journal = 'none',
    env,
    settlement = {},
    daemon = {},
    clock,
  }: {
    profile: Config['profile']
    journal?: string
    env: Environment
    settlement?: Partial<Config['settlement']>
    daemon?: Partial<Config['daemon']>
    clock?: Clock
  },
) {
  const shared = parseConfig(readFileSync(configFile, 'utf8'))
  const config = {
    ...shared,
    profile,
    settlement: { ...shared.settlement, ...settlement, journal },
    daemon: { ...shared.daemon, ...daemon },
  }
  const { secrets } = readSecrets(config, env)
  return startFacilitator({ config, secrets, log: () => undefined, ...(clock && { clock }) })
}
