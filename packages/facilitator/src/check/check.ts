/** Finds every problem that can be found before money moves, in one run. Starts nothing and changes nothing. */
import { type Address, parseAddress } from '@svc-zerc20/protocol'
import { deriveSeed } from '@svc-zerc20/zk'
import { privateKeyToAddress } from 'viem/accounts'
import { toHex } from 'viem/utils'
import { createSeedCheck, type SeedCheck } from '../addresses/seed-check.js'
import { type Config, type ConfigReading, type PartialConfig, readConfigFile } from '../config/config.js'
import { hasCredentials } from '../config/credentials.js'
import type { Environment } from '../config/environment.js'
import { profileOf } from '../config/profile.js'
import { type Finding, isFailure } from '../finding.js'
import type { Clock } from '../payment/ports.js'
import { examineSecrets, type Secrets } from '../secrets/secrets.js'
import { probeArtifacts } from './artifacts.js'
import { probeChain } from './chain.js'
import type { KeyAddresses } from './fee.js'
import { usualPlaces } from './find-artifacts.js'
import { probeHistory } from './history.js'
import { probeIndexer } from './indexer.js'
import { type InspectJournal, probeJournal } from './journal.js'
import { probeListen } from './listen.js'

export type CheckReport = {
  /** One line each, in the order of the configuration. */
  readonly findings: readonly Finding[]
  /** Configuration and secrets to start with. Present when file and environment have no mistake. */
  readonly ready: { readonly config: Config; readonly secrets: Secrets } | undefined
}

export async function check(deps: {
  file: string
  env: Environment
  clock: Pick<Clock, 'now'>
  inspectJournal?: InspectJournal
  /** Folders to search for proving keys when the file names none. Default: the usual places. */
  places?: readonly string[]
}): Promise<CheckReport> {
  const reading = readConfigFile(deps.file)
  const { config, values } = reading
  const { secrets, findings: ofSecrets } = examineSecrets(values, deps.env)
  const { journal: journalFile } = values.settlement
  const [chain, indexer, journal, history, listen] = await Promise.all([
    probeChain({
      config: values,
      keys: secrets && addressesOf(secrets),
      clock: deps.clock,
      // Other profiles finalize nothing, so no keys are searched for.
      places: values.profile === 'local' ? (deps.places ?? usualPlaces(deps.file, journalFile)) : [],
    }),
    probeIndexer(values.network.indexer_url),
    probeJournal(journalFile, deps.inspectJournal, seedOf(secrets, values)),
    probeHistory(deps.env, values, deps.clock),
    probeListen(values.listen),
  ])
  const artifacts = await probeArtifacts(values, chain.artifacts)
  const findings = [
    ...judgeFile(deps.file, reading),
    ...judgeUrls(values),
    ...judgeLog(values),
    ...ofSecrets,
    ...chain.findings,
    ...indexer,
    ...journal,
    ...history,
    ...artifacts,
    ...listen,
  ].map((finding) => withLine(finding, reading))
  return { findings, ready: config && secrets && { config: withArtifacts(config, chain.artifacts), secrets } }
}

const withArtifacts = (config: Config, artifacts: string | undefined): Config =>
  artifacts === undefined ? config : { ...config, zerc20: { ...config.zerc20, artifacts } }

const addressesOf = ({ treasuryKey, relayer, minter }: Secrets): KeyAddresses => ({
  treasury: parseAddress(privateKeyToAddress(toHex(treasuryKey.reveal()))) as Address,
  relayer: parseAddress(relayer.reveal().address) as Address,
  ...(minter && { minter: parseAddress(minter.reveal().address) as Address }),
})

function seedOf(secrets: Secrets | undefined, { network }: PartialConfig): SeedCheck | undefined {
  if (!secrets || network.chain_id === undefined) return undefined
  return createSeedCheck(deriveSeed(secrets.treasuryKey.reveal()), network.chain_id)
}

function judgeFile(file: string, { config, findings }: ConfigReading): readonly Finding[] {
  if (!config || findings.some(isFailure)) return findings
  const { name, acceptsPayments } = profileOf(config)
  const read: Finding = { level: 'ok', key: file, message: `read; profile ${name}` }
  const gated = `is ${name}: the daemon answers, but accepts no payments; only "local" does`
  return [
    read,
    ...findings,
    ...(acceptsPayments ? [] : [{ level: 'warn', key: 'profile', message: gated } as const]),
  ]
}

function judgeUrls({ network }: PartialConfig): Finding[] {
  return (['rpc_url', 'indexer_url', 'decider_url'] as const)
    .filter((name) => hasCredentials(network[name] ?? ''))
    .map((name) => ({
      level: 'warn',
      key: `network.${name}`,
      message:
        'has credentials in the URL: whoever can read the file has them; keep it readable to the daemon only',
    }))
}

function judgeLog({ log }: PartialConfig): Finding[] {
  if (!log.link_mints) return []
  const message = 'is true: whoever can read the log can tell which mint paid for which burn'
  return [{ level: 'warn', key: 'log.link_mints', message }]
}

/** Adds the line of the configuration key that a finding is about. */
function withLine(finding: Finding, { lineOf }: ConfigReading): Finding {
  const line = finding.line ?? (finding.level === 'ok' ? undefined : lineOf(finding.key))
  return line === undefined ? finding : { ...finding, line }
}
