/** Finds every problem that can be found before money moves, in one run. Starts nothing and changes nothing. */
import { createJsonRpc } from '@svc-zerc20/evm'
import { type Address, type Clock, Network, parseAddress } from '@svc-zerc20/protocol'
import { deriveSeed } from '@svc-zerc20/zk'
import { toHex } from 'viem/utils'
import { type Config, type ConfigReading, type PartialConfig, readConfigFile } from '../../config/config.js'
import { hasCredentials } from '../../config/credentials.js'
import { type Finding, fail, isFailure, ok, warn } from '../../config/finding.js'
import { limits } from '../../config/limits.js'
import { configTables } from '../../config/schema.js'
import type { Environment } from '../../config/secrets/environment.js'
import { examineSecrets, type Secrets } from '../../config/secrets/secrets.js'
import { addressOfKey } from '../../config/secrets/sending-account.js'
import { profileOf, rpcOptions } from '../../config/settings.js'
import { oursOf } from '../../store/assert-ours.js'
import { probeChain } from './chain.js'
import { type ChainView, createChainView } from './chain-view.js'
import type { KeyAddresses } from './fee.js'
import { probeHistory } from './history.js'
import { type LedgerFacts, probeLedger } from './ledger.js'
import { probeArtifacts } from './minting/artifacts.js'
import { usualKeyFolders } from './minting/find-artifacts.js'
import { probePool } from './minting/pool.js'
import { probeIndexer, probeListen } from './surroundings.js'

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
  /**
   * The command that follows the check. `start` and `recover` lock and read the journal themselves, and `recover` does not
   * listen. `check` is followed by nothing, and a daemon may run beside it. Default: `start`.
   */
  command?: 'check' | 'start' | 'recover'
  /** Folders to search for proving keys when the file names none. Default: the usual ones. */
  keyFolders?: readonly string[]
}): Promise<CheckReport> {
  const reading = readConfigFile(deps.file)
  if (!reading.isRead) return { findings: reading.findings, ready: undefined }
  const { config } = reading
  const { command = 'start' } = deps
  const { secrets, findings: ofSecrets } = examineSecrets(withoutFailed(reading), deps.env)
  const keys = secrets && addressesOf(secrets)
  const { journal: journalFile } = reading.values.settlement
  const { rpc_url: rpcUrl } = reading.values.network
  const rpc = rpcUrl === undefined ? undefined : createJsonRpc(rpcOptions(rpcUrl))
  const view = rpc && createChainView(rpc)
  const probes = Promise.all([
    probeChain({
      view,
      config: reading.values,
      keys,
      clock: deps.clock,
      // Other profiles finalize nothing, so no keys are searched for.
      keyFolders:
        reading.values.profile === 'local'
          ? (deps.keyFolders ?? usualKeyFolders(deps.file, journalFile))
          : [],
    }),
    probeIndexer(reading.values.network.indexer_url),
    probeLedger(
      reading.values,
      secrets?.storagePassword,
      command === 'check'
        ? {
            ours: config && secrets && oursOf(config, deriveSeed(secrets.treasuryKey.reveal())),
            accounts: view && keys && accountsOf(view, keys),
          }
        : undefined,
    ),
    probeHistory(deps.env, reading.values, deps.clock),
    command === 'recover' ? [] : probeListen(reading.values, { isBeside: command === 'check' }),
  ])
  const [chain, indexer, ledger, history, listen] = await probes.finally(() => rpc?.close())
  // Proof of work that nobody chose is that of the keys.
  const isChosen = reading.isGiven('zerc20.pow_bits')
  const ofKeys = isChosen || chain.powBits === undefined ? {} : { pow_bits: chain.powBits }
  const values = withZerc20(reading.values, ofKeys)
  const artifacts = await probeArtifacts(values, chain.artifacts)
  const findings = [
    ...judgeFile(deps.file, reading),
    ...judgePlaceholders(values),
    ...judgeUrls(values),
    ...judgeLifetime(values),
    ...judgeDecider(values, deps.env),
    ...ofSecrets,
    ...chain.findings,
    ...indexer,
    ...ledger,
    ...history,
    ...artifacts,
    ...(command === 'check' ? probePool(values, deps.clock) : []),
    ...listen,
  ]
  const found = { ...(chain.artifacts !== undefined && { artifacts: chain.artifacts }) }
  const resolved = config && withZerc20(config, { ...found, ...ofKeys })
  return { findings, ready: resolved && secrets && { config: resolved, secrets } }
}

const withZerc20 = <T extends PartialConfig>(config: T, found: Partial<T['zerc20']>): T => ({
  ...config,
  zerc20: { ...config.zerc20, ...found },
})

/**
 * Public keys depend on values of the file. One that failed has its own line already, so they are judged as if it were one
 * that they may be used with. Nothing is started with it.
 */
function withoutFailed({ values, findings }: ConfigReading): PartialConfig {
  const hasFailed = (key: string) => findings.some((finding) => isFailure(finding) && finding.key === key)
  return {
    ...values,
    ...(hasFailed('profile') && { profile: 'local' as const }),
    listen: { ...values.listen, ...(hasFailed('listen.host') && { host: '127.0.0.1' }) },
    network: {
      ...values.network,
      ...(hasFailed('network.rpc_url') && { rpc_url: 'http://127.0.0.1' }),
      ...(hasFailed('network.chain_id') && { chain_id: Network.localChainId }),
    },
  }
}

/** The accounts whose transactions the ledger must know. A node that does not tell is judged elsewhere. */
function accountsOf(
  view: ChainView,
  { relayer, minter }: NonNullable<KeyAddresses>,
): LedgerFacts['accounts'] {
  const accountAt = (address: Address) => ({
    address,
    minedCount: () => view.quantity('eth_getTransactionCount', [address, 'latest']).then(Number, () => 0),
  })
  return { relayer: accountAt(relayer), ...(minter && { minter: accountAt(minter) }) }
}

const addressesOf = ({ treasuryKey, relayer, minter }: Secrets): KeyAddresses => ({
  treasury: parseAddress(addressOfKey(toHex(treasuryKey.reveal()))) as Address,
  relayer: parseAddress(relayer.reveal().address) as Address,
  ...(minter && { minter: parseAddress(minter.reveal().address) as Address }),
})

function judgeFile(file: string, { config, findings }: ConfigReading): readonly Finding[] {
  if (!config || findings.some(isFailure)) return findings
  const { name, acceptsPayments } = profileOf(config)
  const gated = `is ${name}: the daemon answers, but accepts no payments; only "local" does`
  return [
    ok(file, `read; profile ${name}`),
    ...findings,
    ...(acceptsPayments ? [] : [warn('profile', gated)]),
  ]
}

/** The sample's addresses belong to nobody: what is minted to one of them is lost. */
function judgePlaceholders(config: PartialConfig): Finding[] {
  const valueAt = (path: string): unknown =>
    path.split('.').reduce<unknown>((at, name) => Object(at)[name], config)
  return configTables
    .flatMap(({ keys }) => keys)
    .filter(({ path, sample }) => /^"0x[0-9a-f]{40}"$/.test(sample) && sample === `"${valueAt(path)}"`)
    .map(({ path }) => fail(path, 'is the placeholder of the sample; put your own address'))
}

function judgeLifetime({ settlement }: PartialConfig): Finding[] {
  const { challenge_ttl_seconds: seconds = 0 } = settlement
  const secondsMax = limits.signatureSecondsMax - limits.permitOutlivesOfferSeconds
  if (seconds <= secondsMax) return []
  const message = `is ${seconds}: payers sign for no offer that lives longer than ${secondsMax} s, so nobody could pay without gas`
  return [warn('settlement.challenge_ttl_seconds', message)]
}

/** The key is required, though most facilitators have no decider. */
function judgeDecider({ network, finalize }: PartialConfig, env: Environment): Finding[] {
  const { decider_url: url } = network
  if (url === undefined) return []
  const isAsked = finalize.mode === 'batch' && Boolean(env.SVC_DECIDER_TOKEN)
  const message = isAsked
    ? 'makes the proofs of batches; it was not asked'
    : 'not used: a decider is asked in batch mode alone, with SVC_DECIDER_TOKEN; "none" does'
  return [ok('network.decider_url', message)]
}

function judgeUrls({ network, storage }: PartialConfig): Finding[] {
  const message =
    'has credentials in the URL: whoever can read the file has them; keep it readable to the daemon only'
  const ofNetwork = (['rpc_url', 'indexer_url', 'decider_url'] as const)
    .filter((name) => hasCredentials(network[name] ?? ''))
    .map((name) => warn(`network.${name}`, message))
  const { url } = storage
  const hasPassword = url !== undefined && new URL(url).password !== ''
  return [...ofNetwork, ...(hasPassword ? [warn('storage.url', message)] : [])]
}
