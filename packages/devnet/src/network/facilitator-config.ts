import { readFileSync, writeFileSync } from 'node:fs'
import { parse, stringify } from 'smol-toml'
import { type Deployment, devnetPowBits } from '../deploy/deployment.js'
import { developmentRoles } from '../node/accounts.js'

/** The facilitator's configuration file as data: tables of keys. */
export type ConfigTables = { [table: string]: unknown }

const header = `# Facilitator configuration of the local devnet.
#
# For one machine only. The per-key limits are raised here because on a devnet every caller shares one
# address; the defaults are rate_limit_per_min = 120, challenge_per_key_per_min = 20 and
# max_open_challenges = 1000. finalize_interval_ms is short and pow_bits small so that nobody waits; the
# defaults are 15000 and 16.
`

/**
 * Full batches are minted at once. A payment waits so long for others that the roots over both payments of the tour are
 * proved meanwhile, on a small machine, too: they share a mint then.
 */
const batchMints = { mode: 'batch', batch_wait_max_ms: 45_000, batch_jitter_ms: 0 } as const

/** The least price of the devnet's shop. */
const batchFloor = '1000'

/** The devnet's facilitator: payments are minted to the treasury, gas is paid by the relayer. */
export function facilitatorConfig(options: {
  rpcUrl: string
  deployment: Deployment
  indexerUrl: string
  deciderUrl: string
  port: number
  journal: string
  /** Folder of the proving keys; without it nothing is finalized. */
  artifacts?: string
  /** Whether the network takes batch mints. Then payments are minted together. */
  batch?: boolean
  /** Proof-of-work bits that the verifier asks for; those of the devnet by default. */
  powBits?: number
}): ConfigTables {
  const { chainId, token, verifier, hub, permitBurner } = options.deployment
  return {
    profile: 'local',
    network: {
      rpc_url: options.rpcUrl,
      indexer_url: options.indexerUrl,
      decider_url: options.deciderUrl,
      chain_id: chainId,
      token,
      verifier,
      hub,
      deployed_block: Number(options.deployment.fromBlock),
    },
    listen: { host: '127.0.0.1', port: options.port },
    settlement: {
      treasury: developmentRoles.treasury.address,
      permit_burner: permitBurner,
      ...(options.batch && { min_amount: batchFloor }),
      journal: options.journal,
    },
    daemon: {
      finalize_interval_ms: 1_000,
      rate_limit_per_min: 0,
      challenge_per_key_per_min: 0,
      max_open_challenges: 10_000,
    },
    // One confirmation: a chain that mines on demand may never add a second block after a mint.
    finalize: { confirmations: 1, delay_max_ms: 0, ...(options.batch && batchMints) },
    zerc20: {
      pow_bits: options.powBits ?? devnetPowBits,
      // Small, so that the pool is filled soon; enough for one machine.
      pool_size: 32,
      ...(options.artifacts !== undefined && { artifacts: options.artifacts }),
    },
  }
}

/** Merges overrides into the base tables, key by key. `undefined` removes a key. */
export function withOverrides(base: ConfigTables, overrides: ConfigTables): ConfigTables {
  const merged: ConfigTables = { ...base }
  for (const [key, value] of Object.entries(overrides)) {
    if (value === undefined) delete merged[key]
    else if (isTable(value) && isTable(merged[key])) merged[key] = withOverrides(merged[key], value)
    else merged[key] = value
  }
  return merged
}

/** Changes a written configuration, for the next start of the daemon. */
export function changeConfigFile(file: string, overrides: ConfigTables): void {
  writeFileSync(file, renderConfig(withOverrides(parse(readFileSync(file, 'utf8')), overrides)))
}

export function renderConfig(tables: ConfigTables): string {
  return `${header}\n${stringify(tables)}`
}

function isTable(value: unknown): value is ConfigTables {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
