/**
 * `verify-statement` and `present-statement`: statements of a facilitator about payments, checked and passed on without a network. The
 * libraries for it are loaded only here, so that the other commands start fast.
 */
import { readFile, stat, writeFile } from 'node:fs/promises'
import { type Clock, SvcError, textTable, unixSeconds } from '@svc-zerc20/protocol'
import {
  parseStatementFile,
  parseTrustAnchor,
  presentStatement,
  printStatementFile,
  StatementError,
  statementKinds,
  type Verdict,
  type VerifiedStatement,
  verifyStatement,
} from '@svc-zerc20/statement'
import { exitCodes } from '../payer-error.js'
import type { Report } from './output.js'

export type VerifyCommand = {
  readonly trustAnchor: string
  readonly audience?: string
  readonly nonce?: string
  readonly manifest?: string
  readonly manifestSeq?: number
  /** False by `--no-revocations`. */
  readonly revocations?: string | false
  readonly require: readonly string[]
}

/** A statement of thousands of revocations stays below this. */
const fileBytesMax = 8 * 1024 ** 2

export async function verify(
  path: string,
  options: VerifyCommand,
  clock: Clock,
  warn: (warning: string) => void,
): Promise<Report> {
  const trustAnchor = parseAnchor(options.trustAnchor, await readText(options.trustAnchor, '--trust-anchor'))
  const text = await readText(path, 'the statement')
  const newer = {
    manifest: await readOptional(options.manifest, '--manifest'),
    revocations: await readOptional(options.revocations || undefined, '--revocations'),
  }
  const verdict = await judge(async () => {
    const { statement, manifest, revocations } = parseStatementFile(text)
    return verifyStatement(statement, {
      trustAnchor,
      manifests: [newer.manifest, manifest].filter((one) => one !== undefined),
      revocations:
        options.revocations === false
          ? 'unchecked'
          : [newer.revocations, revocations].filter((one) => one !== undefined),
      now: unixSeconds(clock),
      audience: options.audience,
      nonce: options.nonce,
      required: options.require,
      manifestSeqMin: options.manifestSeq,
    })
  })
  if (!verdict.ok) {
    const { reason, message } = verdict
    const help = todo[reason]
    const lines = [`not valid: ${reason}`, message, ...(help === undefined ? [] : [help])]
    return {
      exitCode: exitCodes.notValid,
      result: { isValid: false, reason, message },
      text: `${lines.join('\n')}\n`,
    }
  }
  const { statement } = verdict
  for (const warning of warningsOf(statement, options)) warn(warning)
  return {
    exitCode: exitCodes.ok,
    result: { isValid: true, ...statement },
    text: textOf(statement),
  }
}

/** What to do about a refusal that may end. */
const todo: Readonly<Record<string, string>> = {
  manifest_missing: 'Name one with --manifest: GET /history/issuer/manifest at the facilitator.',
  manifest_expired: 'Name a newer one with --manifest: GET /history/issuer/manifest at the facilitator.',
  statement_key_unknown:
    'A newer manifest may have it: GET /history/issuer/manifest at the facilitator, --manifest.',
  revocations_missing: 'Name one with --revocations: GET /history/issuer/revocations at the facilitator.',
  revocations_stale:
    'Name a fresh one with --revocations: GET /history/issuer/revocations at the facilitator.',
}

async function judge(work: () => Promise<Verdict>): Promise<Verdict> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StatementError)) throw error
    return { ok: false, reason: error.reason, message: error.message }
  }
}

function warningsOf({ audience, nonce }: VerifiedStatement, options: VerifyCommand): string[] {
  return [
    ...(options.audience === undefined
      ? [`the statement was made for ${audience}; --audience compares that with your own name`]
      : []),
    ...(nonce !== undefined && options.nonce === undefined
      ? [`the statement answers the nonce ${nonce}; --nonce compares that with the one you gave`]
      : []),
    ...(options.revocations === false ? ['nobody looked whether the statement was revoked'] : []),
  ]
}

function textOf(statement: VerifiedStatement): string {
  const { kind, claims, undisclosed, revocationsAt } = statement
  const about: [string, string][] = [
    ['issuer', statement.issuer],
    ['key', `${statement.kid} of manifest ${statement.manifestSeq}`],
    ['audience', statement.audience],
    ...(statement.nonce === undefined ? [] : [['nonce', statement.nonce] as [string, string]]),
    ['id', statement.jti],
    ['issued', timeOf(statement.issuedAt)],
    ['expires', timeOf(statement.expiresAt)],
    [
      'revoked',
      revocationsAt === undefined ? 'not looked at' : `no, by the list of ${timeOf(revocationsAt)}`,
    ],
  ]
  const told = Object.entries(claims).map(([name, value]) => [`  ${name}`, shown(name, value)])
  return [
    `valid: ${statementKinds[kind].says}\n\n`,
    textTable(about),
    '\nIt tells:\n',
    textTable(told),
    '\nIt does not tell (hidden, or never there):\n',
    `  ${undisclosed.join(', ') || 'nothing'}\n`,
  ].join('')
}

const timeOf = (seconds: number) => new Date(seconds * 1_000).toISOString().replace('.000', '')

/** Times are numbers in a statement. People read dates. */
const times = new Set(['issuedAt', 'acceptedAt', 'lateAt', 'finalizedAt', 'since', 'until'])
const shown = (name: string, value: string | number) =>
  times.has(name) ? `${value} (${timeOf(Number(value))})` : `${value}`

export async function present(
  path: string,
  { disclose, out }: { readonly disclose: readonly string[]; readonly out: string },
): Promise<Report> {
  const text = await readText(path, 'the statement')
  try {
    const { statement, ...papers } = parseStatementFile(text)
    const presented = await presentStatement(statement, disclose)
    // Nothing is overwritten: the statement with all its disclosures may be the only copy.
    await writeFile(out, printStatementFile({ statement: presented, ...papers }), { flag: 'wx', mode: 0o600 })
  } catch (cause) {
    const { message } = cause as Error
    throw new SvcError('payer_misconfigured', message, { cause })
  }
  return {
    exitCode: exitCodes.ok,
    result: { disclosed: disclose, out },
    text: `${out} discloses ${disclose.join(', ') || 'nothing'}\n`,
  }
}

function parseAnchor(path: string, text: string) {
  try {
    return parseTrustAnchor(text)
  } catch (cause) {
    throw new SvcError('payer_misconfigured', `--trust-anchor ${path}: ${(cause as Error).message}`, {
      cause,
    })
  }
}

const readOptional = async (path: string | undefined, what: string) =>
  path === undefined ? undefined : readText(path, what)

async function readText(path: string, what: string): Promise<string> {
  try {
    const { size } = await stat(path)
    if (size > fileBytesMax) throw new Error('the file is too large')
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new SvcError('payer_misconfigured', `${what} ${path}: ${(cause as Error).message}`, { cause })
  }
}
