/** The TOML file → a resolved Config. Every problem is collected; none is guessed away. */
import { type Address, type BaseUnits, parseAddress, parseBaseUnits, SvcError } from '@svc-zerc20/protocol'
import { parse as parseToml } from 'smol-toml'
import { z } from 'zod'

const address = z.string().transform((text, context): Address => {
  const parsed = parseAddress(text)
  if (parsed === undefined) context.addIssue({ code: 'custom', message: 'must be a 20-byte 0x address' })
  return parsed as Address
})
const url = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:/.test(text), 'must be an http or https URL')
const integer = (min: number) => z.number().int().min(min)
const baseUnits = z.string().transform((text, context): BaseUnits => {
  const parsed = parseBaseUnits(text)
  if (parsed === undefined) context.addIssue({ code: 'custom', message: 'must be a plain decimal integer' })
  return parsed as BaseUnits
})

const schema = z.object({
  profile: z.enum(['local', 'testnet', 'production']).optional(),
  network: z.object({
    rpc_url: url,
    indexer_url: url,
    decider_url: url,
    chain_id: integer(1),
    token: address,
    verifier: address,
    hub: address,
  }),
  listen: z
    .object({
      host: z.string().min(1).default('127.0.0.1'),
      port: integer(0).max(65_535).default(4032),
      trusted_proxies: z.union([z.string(), z.array(z.string())]).optional(),
    })
    .prefault({}),
  settlement: z.object({
    treasury: address,
    permit_burner: address.optional(),
    journal: z.string().min(1),
    challenge_ttl_seconds: integer(1).default(300),
    expired_challenge_retention_seconds: integer(0).default(3600),
    receipt_poll_ms: integer(0).default(15_000),
    confirmations: integer(1).default(1),
  }),
  fee: z
    .object({
      bps: integer(0).max(10_000),
      min_per_payment: baseUnits,
      charge_to: z.enum(['payer', 'provider']),
      recipient: address.optional(),
      splitter: address.optional(),
    })
    .optional(),
  daemon: z
    .object({
      finalize_interval_ms: integer(1000).default(15_000),
      shutdown_grace_ms: integer(0).default(10_000),
      rate_limit_per_min: integer(0).default(120),
      max_open_challenges: integer(1).default(1000),
      challenge_per_key_per_min: z.number().int().default(20),
    })
    .prefault({}),
  zerc20: z
    .object({
      generation: z.union([z.literal(1), z.literal(2)]).default(2),
      pow_bits: integer(0).max(32).default(16),
      tree_height: integer(1).max(64).default(40),
      pool_size: integer(1).max(100_000).default(256),
    })
    .prefault({}),
})

export type Config = z.infer<typeof schema>

/** Reads a configuration text; throws `SvcError('config_invalid')` that lists every problem, one a line. */
export function parseConfig(text: string): Config {
  let raw: unknown
  try {
    raw = parseToml(text)
  } catch (cause) {
    throw new SvcError('config_invalid', `not TOML: ${(cause as Error).message}`, { cause })
  }
  const parsed = schema.safeParse(raw)
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
    throw new SvcError('config_invalid', problems.join('\n'))
  }
  const problems = unsupported(parsed.data)
  if (problems.length > 0) throw new SvcError('config_invalid', problems.join('\n'))
  return parsed.data
}

/** Refused rather than ignored: a setting that does nothing yet must not look as if it did. */
function unsupported(config: Config): string[] {
  const problems: string[] = []
  if (config.settlement.journal !== 'none') {
    problems.push('settlement.journal: journal files are not available in this version; set it to "none"')
  }
  if (config.fee) problems.push('fee: fees are not available in this version; remove the table')
  return problems
}

const loopbackHosts = new Set(['127.0.0.1', 'localhost', '::1', '[::1]'])

export const isLoopback = (host: string): boolean =>
  loopbackHosts.has(host) || /^127(?:\.\d{1,3}){3}$/.test(host)
