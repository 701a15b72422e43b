/**
 * The schema of the configuration file. The daemon reads the file by it, and the reference page and the sample file are
 * generated from it.
 */
import { isIP } from 'node:net'
import {
  type Address,
  type BaseUnits,
  parseAddress,
  parseBaseUnits,
  parseUrl,
  toChecksum,
  zeroAddress,
} from '@svc-zerc20/protocol'
import * as z from 'zod'

/** A value that has its own parser. `description` completes the sentence "must be …", here and everywhere. */
export const parsedBy = <T>(
  description: string,
  parse: (given: unknown) => T | undefined,
  /** A more helpful message for a value that is not allowed; completes "key: …". */
  explain: (given: unknown) => string | undefined = () => undefined,
) =>
  z
    .unknown()
    .transform((given, context): T => {
      const value = parse(given)
      if (value !== undefined) return value
      context.addIssue({ code: 'custom', message: explain(given) })
      return z.NEVER
    })
    .describe(description)

export const address = parsedBy<Address>(
  'an address, 0x and 40 hex digits, not zero',
  (given) => {
    const parsed = parseAddress(given)
    return parsed === zeroAddress || !hasGoodCapitals(given) ? undefined : parsed
  },
  (given) => {
    if (typeof given === 'bigint' && given > 0n && given < 2n ** 160n) {
      return 'is a number; an address stands in quotes'
    }
    if (parseAddress(given) === undefined || hasGoodCapitals(given)) return undefined
    return `${given} has capitals that are not those of its checksum (EIP-55), so a digit may be wrong; compare it with its source`
  },
)

/** Checks an address's checksum. All-lower and all-upper case have none; mixed case has one that catches typos. */
function hasGoodCapitals(text: unknown): boolean {
  const parsed = parseAddress(text)
  if (parsed === undefined || typeof text !== 'string') return false
  const digits = text.slice(2)
  return digits === digits.toLowerCase() || digits === digits.toUpperCase() || text === toChecksum(parsed)
}

const anyUrl = z
  .string()
  .regex(/^https?:\/\//i)
  .refine((text) => parseUrl(text) !== undefined)

const url = anyUrl.describe('an http or https URL')

/** A URL that paths are added to. It is compared as text, so it has one form: no slash at its end. */
export const baseUrl = anyUrl
  .refine((text) => /^[^?#]*$/.test(text) && parseUrl(text)?.href.includes('@') === false)
  .transform((text) => {
    const { origin, pathname } = new URL(text)
    return `${origin}${pathname}`.replace(/\/+$/, '')
  })
  .describe('an http or https URL without user, query and fragment')

const databaseUrl = z
  .string()
  .regex(/^postgres(?:ql)?:\/\/[^,]*$/i)
  .refine((text) => /^(?:\?sslmode=[a-z-]+)?$/.test(parseUrl(text)?.search ?? '-'))
  .describe('a postgres:// URL of one host; of parameters only sslmode')

const host = z
  .string()
  .refine((text) => isIP(text) !== 0 || /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i.test(text))
  .describe('an IP address or a host name, without a port')

/** A name that is safe as a metric label and in a log line. */
const sellerName = z
  .string()
  .regex(/^[a-z0-9._-]{1,40}$/)
  .describe('a name of 1 to 40 lower-case letters, digits, dots, dashes and underscores')

const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/i)
  .toLowerCase()
  .describe('a SHA-256 hash, 64 hex digits')

export const path = z
  .string()
  .regex(/\S/)
  .refine((text) => !text.includes('\0'))

/** A whole number. Default maximum: the largest safe integer. */
function integer({ min, max }: { min?: number; max?: number }) {
  const bounds = [min !== undefined && `at least ${min}`, max !== undefined && `at most ${max}`]
    .filter(Boolean)
    .join(' and ')
  return z
    .bigint()
    .min(BigInt(min ?? Number.MIN_SAFE_INTEGER))
    .max(BigInt(max ?? Number.MAX_SAFE_INTEGER))
    .transform(Number)
    .describe(bounds === '' ? 'an integer' : `an integer of ${bounds}`)
}

/** A string, because large amounts do not fit a TOML integer. */
const baseUnits = parsedBy<BaseUnits>(
  'an amount in base units, a plain decimal integer or a string of one',
  (given) => parseBaseUnits(typeof given === 'bigint' ? `${given}` : given),
)

const oneOf = <const T extends readonly string[]>(...words: T) =>
  z.enum(words).describe(`one of ${words.map((word) => `"${word}"`).join(', ')}`)

/** Names that the HTTP server's trust-proxy setting accepts besides addresses. */
const proxyNames = new Set(['loopback', 'linklocal', 'uniquelocal'])

const isProxy = (text: string): boolean =>
  proxyNames.has(text) || isIP(text) !== 0 || z.union([z.cidrv4(), z.cidrv6()]).safeParse(text).success

const proxies = z
  .union([
    z.string().refine((text) => text.split(',').every((part) => isProxy(part.trim()))),
    z.array(z.string().refine(isProxy)),
  ])
  .describe('IP addresses or CIDR blocks, as an array or as one string with commas')

type KeyText = {
  /** Explanation for the operator, in one or two sentences. */
  readonly about: string
  /** The value in the sample file, as TOML. */
  readonly sample: string
}

const required = <T extends z.ZodType>(type: T, sample: string, about: string) =>
  type.meta({ about, sample, presence: 'required', allowed: type.description })

const optional = <T extends z.ZodType>(type: T, sample: string, about: string) =>
  type.optional().meta({ about, sample, presence: 'optional', allowed: type.description })

const defaults = <T extends z.ZodType>(type: T, value: z.util.NoUndefined<z.output<T>>, about: string) =>
  type.default(value).meta({
    about,
    presence: 'default',
    default: value,
    allowed: type.description,
    sample: JSON.stringify(value),
  })

const table = <T extends z.ZodRawShape>(about: string, keys: T) => z.object(keys).meta({ about })

const sampleAddress = (digits: string) => `"0x${digits.repeat(20)}"`

const configSchema = z.object({
  profile: optional(
    oneOf('local', 'testnet', 'production'),
    '"local"',
    'Payments are accepted under `local` only. With any other profile, or none, the daemon is gated: it answers, but ' +
      'refuses challenges and payments. Never inferred from the bind address or the chain id.',
  ),
  network: table('The chain and the zERC20 deployment on it. There is no default network.', {
    rpc_url: required(
      url,
      '"http://127.0.0.1:8545"',
      'EVM RPC endpoint. `check` warns when the URL has credentials, because readers of the file can see them.',
    ),
    indexer_url: required(url, '"http://127.0.0.1:8080"', 'Token indexer endpoint.'),
    decider_url: required(
      z.union([url, z.literal('none')]).describe('an http or https URL, or "none"'),
      '"none"',
      'Decider-prover endpoint. Asked only where `finalize.mode` is `batch` and `SVC_DECIDER_TOKEN` is set; everybody else ' +
        'writes `none`. `check` does not probe it.',
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
  }),
  listen: table('Where the HTTP interface listens.', {
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
  }),
  settlement: table('Where payments go, and how long a challenge lives.', {
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
      path.describe('the path of a file, or "none"'),
      '"facilitator.jsonl"',
      'Crash-recovery file (JSONL). A relative path starts at the folder of the configuration file. With ' +
        '`storage.url` write `none`. Without it, `none` opts out, with a warning: pending work is lost on restart.',
    ),
    challenge_ttl_seconds: defaults(
      integer({ min: 1 }),
      300,
      'Lifetime of a challenge. The signatures that pay it end two minutes later, because a burn has to be mined.',
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
        'Required in batch mode, where it is also what a stranger pays at least for each payment that it surrounds ' +
        'another one with. Transfers that nobody presents are minted if they reach this amount and `relay_min_amount`, or if they ' +
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
  }),
  fee: table(
    'The facilitator’s fee; leave the table out for no fee. With `splitter` the fee is split on chain (split mode). ' +
      'Without it, the treasury key sends the fee on (custodial mode). A payment keeps the fee of its challenge: a ' +
      'change of this table changes no older payment.',
    {
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
  ).optional(),
  daemon: table('Periods and limits of the daemon.', {
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
  }),
  finalize: table('How accepted payments are minted to the provider. No request ever waits for a mint.', {
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
      integer({ min: 1, max: 30 }),
      20,
      'In batch mode: a batch is minted once so many accounts paid for it, each at least `settlement.min_amount`. One ' +
        'proof holds 30 payments.',
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
  }),
  history: table(
    'The payment history, which participants read under `/history`. It is attached by environment variables; without ' +
      'them this table has no effect.',
    {
      url: optional(
        baseUrl,
        '"https://facilitator.example"',
        "This facilitator's URL as participants use it. Tokens, wallet logins and statements are bound to it. Unset: " +
          '`http://` with `listen.host` and `listen.port`.',
      ),
    },
  ),
  zerc20: table('Constants of the zERC20 deployment. Change them only together with the contracts.', {
    pow_bits: defaults(
      integer({ min: 0, max: 32 }),
      16,
      'Proof-of-work bits of a burn address. Every further bit doubles the work. Unset: the bits that the proving keys ' +
        'demand, where keys are found, and 16 otherwise. After a change the ready addresses are made again.',
    ),
    pool_size: defaults(
      integer({ min: 1, max: 100_000 }),
      256,
      'One-time addresses kept ready, so that no caller waits for the proof of work.',
    ),
    artifacts: optional(
      path.describe('the path of a folder'),
      '"circuits"',
      'Folder of the proving keys, with their `manifest.json`. A relative path starts at the folder of the ' +
        'configuration file. Unset: keys whose hashes match the verifier’s are searched in `circuits` beside the ' +
        'file and beside the journal, in `~/.local/share/svc-zerc20/circuits` and in `.cache/circuits` of this ' +
        'repository. If none are found, payments are accepted but not finalized.',
    ),
  }),
  storage: table('Where the ledger is kept, if not beside `settlement.journal`.', {
    url: optional(
      databaseUrl,
      '"postgres://svc@db.example/svc"',
      'A PostgreSQL database, which then holds everything that must not be lost; `settlement.journal` must be `"none"`. ' +
        'Any number of daemons may share it. The password comes from `SVC_STORAGE_PASSWORD`, or from the file that ' +
        '`SVC_STORAGE_PASSWORD_FILE` names; `check` warns when the URL has one, because readers of the file can see it.',
    ),
  }),
  sellers: z.array(
    table(
      'Resource servers with a token. A call with the token counts as that seller, whatever its address, with the ' +
        'rates given here, and some open challenges are kept for it. Calls ' +
        'without a token, or with an unknown one, count by their address.',
      {
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
        max_open_challenges: defaults(
          integer({ min: 0 }),
          50,
          'Open challenges that are kept for this seller, of `daemon.max_open_challenges`. It may have more while others leave ' +
            'them. `0` keeps none.',
        ),
      },
    ),
  ),
})

type Whole = z.output<typeof configSchema>

/** The configuration with every default filled in. */
export type Config = { readonly [Name in keyof Whole]: Readonly<Whole[Name]> }

/** The valid values of a file that may have mistakes. */
export type PartialConfig = {
  readonly [Name in keyof Config]: Name extends 'profile'
    ? Config[Name]
    : Name extends 'sellers'
      ? readonly Partial<Config['sellers'][number]>[]
      : Partial<Config[Name]>
}

export type KeyEntry = KeyText & {
  readonly path: string
  readonly name: string
  readonly type: z.ZodType
  readonly presence: 'required' | 'optional' | 'default'
  readonly default?: unknown
  /** Completes the sentence "must be …". */
  readonly allowed: string
}

export type TableEntry = {
  /** Empty for the keys above the first table. */
  readonly name: string
  readonly about: string
  readonly optional: boolean
  /** Written as `[[name]]`, any number of times. */
  readonly repeated: boolean
  readonly keys: readonly KeyEntry[]
}

const { profile, ...tables } = configSchema.shape

/** The schema as a list, in the order of the reference. */
export const configTables: readonly TableEntry[] = [
  { name: '', about: '', optional: false, repeated: false, keys: keysOf('', { profile }) },
  ...Object.entries(tables).map(([name, schema]) => {
    const optional = !(schema instanceof z.ZodObject)
    const repeated = schema instanceof z.ZodArray
    const one = repeated ? schema.element : schema instanceof z.ZodOptional ? schema.unwrap() : schema
    return { name, optional, repeated, keys: keysOf(name, one.shape), ...(one.meta() as { about: string }) }
  }),
]

function keysOf(table: string, shape: Readonly<Record<string, z.ZodType>>): KeyEntry[] {
  return Object.entries(shape).map(([name, type]) => {
    const text = type.meta() as Pick<KeyEntry, 'about' | 'sample' | 'presence' | 'default' | 'allowed'>
    return { path: table === '' ? name : `${table}.${name}`, name, type, ...text }
  })
}

/** Every key's full name. */
export const knownPaths: readonly string[] = configTables.flatMap(({ keys }) => keys.map(({ path }) => path))
