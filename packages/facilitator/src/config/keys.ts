/**
 * Table of all keys of the configuration file. The daemon reads the file by this table, and the reference page and the
 * sample file are generated from it.
 */
import {
  address,
  baseUnits,
  baseUrl,
  filePath,
  flag,
  folderPath,
  host,
  integer,
  oneOf,
  oneOfNumbers,
  proxies,
  sellerName,
  sha256,
  url,
  type ValueType,
} from './types.js'

export type ConfigKey<T> = {
  readonly type: ValueType<NonNullable<T>>
  readonly presence: 'required' | 'optional' | 'default'
  readonly default?: T
  /** Explanation for the operator, in one or two sentences. */
  readonly about: string
  /** The value in the sample file, as TOML. */
  readonly sample: string
}

const required = <T>(type: ValueType<T>, sample: string, about: string): ConfigKey<T> => ({
  type: type as ValueType<NonNullable<T>>,
  presence: 'required',
  about,
  sample,
})

const optional = <T>(type: ValueType<T>, sample: string, about: string): ConfigKey<T | undefined> => ({
  type: type as ValueType<NonNullable<T>>,
  presence: 'optional',
  about,
  sample,
})

const defaults = <T extends string | number | boolean>(
  type: ValueType<T>,
  value: NoInfer<T>,
  about: string,
): ConfigKey<T> => ({
  type: type as ValueType<NonNullable<T>>,
  presence: 'default',
  default: value,
  about,
  sample: typeof value === 'string' ? `"${value}"` : `${value}`,
})

const sampleAddress = (digits: string) => `"0x${digits.repeat(20)}"`

export const topLevelKeys = {
  profile: optional(
    oneOf('local', 'testnet', 'production'),
    '"local"',
    'Payments are accepted under `local` only. With any other profile, or none, the daemon is gated: it answers, but ' +
      'refuses challenges and payments. Never inferred from the bind address or the chain id.',
  ),
} as const

export const tables = {
  network: {
    about: 'The chain and the zERC20 deployment on it. There is no default network.',
    optional: false,
    keys: {
      rpc_url: required(
        url,
        '"http://127.0.0.1:8545"',
        'EVM RPC endpoint. `check` warns when the URL has credentials, because readers of the file can see them.',
      ),
      indexer_url: required(url, '"http://127.0.0.1:8080"', 'Token indexer endpoint.'),
      decider_url: required(
        url,
        '"http://127.0.0.1:8081"',
        'Decider-prover endpoint, for the batch path only. Used only with `SVC_DECIDER_TOKEN`. `check` does not probe it.',
      ),
      chain_id: required(integer({ min: 1 }), '31337', 'Must equal the chain id that the RPC reports.'),
      token: required(address, sampleAddress('11'), 'The zERC20 token. Checked for deployed code.'),
      verifier: required(address, sampleAddress('22'), "The token's verifier. Checked for deployed code."),
      hub: required(address, sampleAddress('33'), 'The hub of the deployment. Checked for deployed code.'),
      deployed_block: defaults(
        integer({ min: 0 }),
        0,
        "A block at or before the token's first transfer. The token's logs are read from there when no indexer gives a path.",
      ),
    },
  },
  listen: {
    about: 'Where the HTTP interface listens.',
    optional: false,
    keys: {
      host: defaults(
        host,
        '127.0.0.1',
        'Bind address. One that other machines can reach requires `SVC_ADMIN_TOKEN`.',
      ),
      port: defaults(integer({ min: 0, max: 65_535 }), 4032, 'TCP port; `0` takes any free one.'),
      trusted_proxies: optional(
        proxies,
        '["10.0.0.0/8"]',
        'Proxies whose `X-Forwarded-For` is trusted, passed unchanged to the trust-proxy setting of the HTTP ' +
          'server. Unset: none, and a caller is counted by its connection.',
      ),
    },
  },
  settlement: {
    about: 'Where payments go, and how long a challenge lives.',
    optional: false,
    keys: {
      treasury: required(
        address,
        sampleAddress('44'),
        'Mint destination. In split mode the address of the fee splitter.',
      ),
      permit_burner: optional(
        address,
        sampleAddress('55'),
        'Helper contract for gasless payments. Unset: only self-transfers are offered.',
      ),
      journal: required(
        filePath,
        '"facilitator.jsonl"',
        'Crash-recovery file (JSONL). A relative path starts at the folder of the configuration file. `none` opts ' +
          'out, with a warning: pending work is lost on restart.',
      ),
      challenge_ttl_seconds: defaults(
        integer({ min: 1 }),
        300,
        'Lifetime of a challenge, and the deadline of the signatures that pay it.',
      ),
      expired_challenge_retention_seconds: defaults(
        integer({ min: 0 }),
        3600,
        'How long an expired challenge is remembered, so that a burn that is mined late is still recognised.',
      ),
      issued_retention_days: defaults(
        integer({ min: 90, max: 36_500 }),
        90,
        'Days that every issued address is remembered on disk. A transfer to such an ' +
          'address is found on the chain and minted to the provider, even if nobody presents it.',
      ),
      mint_second_transfers: defaults(
        flag,
        false,
        'Whether transfers to an address beside its payment are minted: a larger one by a proof of its own, and in batch ' +
          'mode every one, in the sum of its epoch. Anybody can send one. The two mints of one address can be recognized ' +
          'as a pair, and whoever sends 2^i base units to the i-th address reads from the sums of batches which ' +
          'payments belong together: a stranger then knows the recipient. If `false`, such transfers are only recorded ' +
          'and shown (`admin late`).',
      ),
      receipt_poll_ms: defaults(
        integer({ min: 0 }),
        15_000,
        'How long `/settle` waits for a relayed burn before it answers `pending_burn`.',
      ),
      confirmations: defaults(
        integer({ min: 1 }),
        1,
        'Confirmations of a burn before it counts. The block of the burn is the first.',
      ),
      min_amount: optional(
        baseUnits,
        '"1000"',
        'Challenges below this amount are refused, because every payment costs a mint. Unset: any amount is taken. ' +
          'Transfers that nobody presents are minted if they reach this amount and `relay_min_amount`, or if they ' +
          'pay the price of their challenge.',
      ),
      relay_min_amount: optional(
        baseUnits,
        '"1000"',
        'Smallest amount in base units that is relayed, because the relayer pays the gas. Smaller offers have no ' +
          'gasless path and are paid by self-transfer. Unset or `0`: every amount is relayed.',
      ),
      max_fee_per_gas_gwei: defaults(
        integer({ min: 1, max: 1_000_000 }),
        500,
        'Highest fee per unit of gas that the relayer offers, whatever the node suggests. While the chain asks for ' +
          'more, burns and mints wait.',
      ),
      max_priority_fee_gwei: defaults(
        integer({ min: 1, max: 1_000_000 }),
        100,
        'Highest tip for the block builder, as part of that fee. A suggested tip is used up to half of this, so that ' +
          'the tip of a stuck transaction can be raised.',
      ),
      reorg_watch_blocks: defaults(
        integer({ min: 0, max: 10_000 }),
        64,
        'How many blocks deep a relayed transaction is watched for reorgs. If a reorg removes it, the same bytes are ' +
          'sent again, also after a restart, and the payment is not finalized until a block holds its burn again. ' +
          '`0`: not watched.',
      ),
    },
  },
  fee: {
    about:
      'The facilitator’s fee; leave the table out for no fee. With `splitter` the fee is split on chain (split mode). ' +
      'Without it, the treasury key sends the fee on (custodial mode). A payment keeps the fee of its challenge: a ' +
      'change of this table changes no older payment.',
    optional: true,
    keys: {
      bps: required(
        integer({ min: 0, max: 10_000 }),
        '50',
        'Basis points of the list price, rounded up to the next base unit. At least 1 in split mode, and below 10000 ' +
          'when the provider bears the fee.',
      ),
      min_per_payment: required(baseUnits, '"0"', 'Least fee of a payment in base units. `0` in split mode.'),
      charge_to: required(
        oneOf('payer', 'provider'),
        '"payer"',
        'Who bears the fee: `payer` adds it to the amount, `provider` takes it out of it.',
      ),
      recipient: optional(
        address,
        sampleAddress('66'),
        'Who gets the fee. Required in custodial mode; in split mode `check` compares it with the splitter.',
      ),
      splitter: optional(
        address,
        sampleAddress('44'),
        'The fee splitter; chooses split mode. Must equal `settlement.treasury`.',
      ),
      sweep_min: optional(
        baseUnits,
        '"1000000"',
        'Least sum in base units that is worth the gas of a sweep, or in split mode of a distribution. Unset: any sum.',
      ),
      sweep_interval_secs: defaults(
        integer({ min: 1 }),
        86_400,
        'How long a fee waits for others before it is swept from the treasury to `recipient`. In split mode the least ' +
          'time between two distributions of the splitter.',
      ),
    },
  },
  daemon: {
    about: 'Periods and limits of the daemon.',
    optional: false,
    keys: {
      finalize_interval_ms: defaults(
        integer({ min: 1000 }),
        15_000,
        'Period of the finalize loop. Failures back off exponentially up to 10 times the period.',
      ),
      follow_interval_ms: defaults(
        integer({ min: 1000 }),
        15_000,
        "Pause between two rounds that search the token's transfers for burns that nobody presented. Failures back off " +
          'like the finalize loop.',
      ),
      shutdown_grace_ms: defaults(
        integer({ min: 0 }),
        10_000,
        'On SIGTERM, the longest wait for work under way before the daemon ends.',
      ),
      rate_limit_per_min: defaults(
        integer({ min: 0 }),
        120,
        'Requests per caller and minute to `/challenge`, `/verify` and `/settle` together. `0` disables.',
      ),
      max_open_challenges: defaults(
        integer({ min: 1 }),
        1000,
        'Open challenges of all callers; at the cap `POST /challenge` answers 503.',
      ),
      challenge_per_key_per_min: defaults(
        integer({}),
        20,
        'Challenges per caller and minute; beyond it 429. `0` or less disables.',
      ),
    },
  },
  finalize: {
    about: 'How accepted payments are minted to the provider. No request ever waits for a mint.',
    optional: false,
    keys: {
      confirmations: defaults(
        integer({ min: 1 }),
        3,
        'Confirmations of a mint before its payment is finalized. The block of the mint is the first.',
      ),
      prover_processes: defaults(
        integer({ min: 1, max: 64 }),
        1,
        'Proofs computed at once, each in a process of its own that keeps one processor core busy.',
      ),
      delay_max_ms: defaults(
        integer({ min: 0 }),
        60_000,
        'Each mint of one payment is delayed by a random time up to this. A longer delay makes it harder to match a mint ' +
          'to its burn by time.',
      ),
      mode: defaults(
        oneOf('single', 'batch'),
        'single',
        'How new payments are minted. `single`: each by a proof of its own. `batch`: many by one proof, as a sum, and each ' +
          'waits for others, by default up to 6 hours (`finalize.batch_wait_max_ms`); the ' +
          'verifier needs a batch verifier, and `zerc20.artifacts` its keys. Payments keep the mode of their address, so ' +
          'that a change loses nothing.',
      ),
      epoch_seconds: defaults(
        integer({ min: 60, max: 31_536_000 }),
        86_400,
        'In batch mode: payments whose addresses were made in the same stretch of this length can share a mint.',
      ),
      batch_least: defaults(
        integer({ min: 1, max: 10_000 }),
        30,
        'In batch mode: so many payments of an epoch are minted together. One proof holds 30.',
      ),
      batch_wait_max_ms: defaults(
        integer({ min: 0 }),
        21_600_000,
        'In batch mode: the longest that a payment waits for others. Then it is minted with those that are there, even ' +
          'alone.',
      ),
      batch_jitter_ms: defaults(
        integer({ min: 0 }),
        600_000,
        'In batch mode: a mint comes up to this much later than the payment that completed it, and up to this much ' +
          'before the longest wait is over, at random, so that its time does not name a payment.',
      ),
    },
  },
  log: {
    about: 'Contents of the log. It never contains secrets or bodies.',
    optional: false,
    keys: {
      link_mints: defaults(
        flag,
        false,
        'Whether mint events name their payment. With `true`, readers of the log or of a copy can match mints to burns. ' +
          'With `false`, the operator can still use `svc-facilitator admin payment`.',
      ),
    },
  },
  history: {
    about:
      'The payment history, which participants read under `/history`. It is attached by environment variables; without ' +
      'them this table has no effect.',
    optional: false,
    keys: {
      url: optional(
        baseUrl,
        '"https://facilitator.example"',
        "This facilitator's URL as participants use it. Tokens, wallet logins and proofs are bound to it. Unset: " +
          '`http://` with `listen.host` and `listen.port`.',
      ),
    },
  },
  zerc20: {
    about: 'Constants of the zERC20 deployment. Change them only together with the contracts.',
    optional: false,
    keys: {
      generation: defaults(oneOfNumbers(1, 2), 2, 'Protocol generation of the deployment.'),
      pow_bits: defaults(
        integer({ min: 0, max: 32 }),
        16,
        'Proof-of-work bits of a burn address. Every further bit doubles the work. Unset: the bits that the proving keys ' +
          'demand, where keys are found, and 16 otherwise. After a change the ready addresses are made again.',
      ),
      tree_height: defaults(
        integer({ min: 1, max: 64 }),
        40,
        "Height of the token's transfer tree. `check` compares it with the verifier.",
      ),
      pool_size: defaults(
        integer({ min: 1, max: 100_000 }),
        256,
        'One-time addresses kept ready, so that no caller waits for the proof of work.',
      ),
      artifacts: optional(
        folderPath,
        '"circuits"',
        'Folder of the proving keys, with their `manifest.json`. A relative path starts at the folder of the ' +
          'configuration file. Unset: keys whose hashes match the verifier’s are searched in `circuits` beside the ' +
          'file and beside the journal, in `~/.local/share/svc-zerc20/circuits` and in `.cache/circuits` of this ' +
          'repository. If none are found, payments are accepted but not finalized.',
      ),
    },
  },
} as const

/** Tables that may stand in the file any number of times, as `[[name]]`. */
export const listTables = {
  sellers: {
    about:
      'Resource servers with a token. A call with the token counts as that seller, whatever its address, with the ' +
      'rates given here. A share of the ready addresses and of the open challenges is reserved for each seller. Calls ' +
      'without a token, or with an unknown one, count by their address.',
    keys: {
      name: required(
        sellerName,
        '"shop"',
        'Name of the seller in logs, metrics and findings. Must be unique.',
      ),
      token_sha256: required(
        sha256,
        `"${'77'.repeat(32)}"`,
        'SHA-256 of the token, so that the file does not contain the token. Make both with ' +
          '`token=$(openssl rand -hex 32); printf %s "$token" | sha256sum`.',
      ),
      rate_limit_per_min: optional(
        integer({ min: 0 }),
        '1200',
        'Like `daemon.rate_limit_per_min`. Unset: ten times that. `0` disables.',
      ),
      challenge_per_key_per_min: optional(
        integer({}),
        '200',
        'Like `daemon.challenge_per_key_per_min`. Unset: ten times that. `0` or less disables.',
      ),
      reserved_percent: optional(
        integer({ min: 0, max: 100 }),
        '10',
        'Share of `zerc20.pool_size` and of `daemon.max_open_challenges` that is reserved for this seller, in percent. ' +
          'All sellers together may reserve at most 100; the rest is for everybody. Unset: 10; if several sellers ' +
          'leave it unset, they share 20, or what the others leave, equally. `0` reserves nothing.',
      ),
    },
  },
} as const

type Values<Keys> = { readonly [Name in keyof Keys]: Keys[Name] extends ConfigKey<infer T> ? T : never }

type TableName = keyof typeof tables
type Tables = { readonly [Name in TableName]: Values<(typeof tables)[Name]['keys']> }

type Lists = {
  readonly [Name in keyof typeof listTables]: readonly Values<(typeof listTables)[Name]['keys']>[]
}

/** The configuration with every default filled in. */
export type Config = Values<typeof topLevelKeys> &
  Omit<Tables, 'fee'> & { readonly fee: Tables['fee'] | undefined } & Lists

/** The valid values of a file that may have mistakes. */
export type PartialConfig = Partial<Values<typeof topLevelKeys>> & {
  readonly [Name in Exclude<TableName, 'fee'>]: Partial<Tables[Name]>
} & { readonly fee: Partial<Tables['fee']> | undefined } & {
  readonly [Name in keyof Lists]: readonly Partial<Lists[Name][number]>[]
}

export type KeyEntry = { readonly path: string; readonly name: string; readonly key: ConfigKey<unknown> }
export type TableEntry = {
  /** Empty for the keys above the first table. */
  readonly name: string
  readonly about: string
  readonly optional: boolean
  /** Written as `[[name]]`, any number of times. */
  readonly repeated: boolean
  readonly keys: readonly KeyEntry[]
}

/** The table as a list, in the order of the reference. */
export const configTables: readonly TableEntry[] = [
  { name: '', about: '', optional: false, repeated: false, keys: entries('', topLevelKeys) },
  ...Object.entries(tables).map(([name, { about, optional: mayMiss, keys }]) => ({
    name,
    about,
    optional: mayMiss,
    repeated: false,
    keys: entries(name, keys),
  })),
  ...Object.entries(listTables).map(([name, { about, keys }]) => ({
    name,
    about,
    optional: true,
    repeated: true,
    keys: entries(name, keys),
  })),
]

function entries(table: string, keys: Readonly<Record<string, ConfigKey<unknown>>>): KeyEntry[] {
  return Object.entries(keys).map(([name, key]) => ({
    path: table === '' ? name : `${table}.${name}`,
    name,
    key,
  }))
}

/** Every key's full name. */
export const knownPaths: readonly string[] = configTables.flatMap(({ keys }) => keys.map(({ path }) => path))
