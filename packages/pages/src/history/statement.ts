/** Checks a statement in this browser. Nothing is sent anywhere: the file and the trust anchor are all that is needed. */
import {
  type Claims,
  parseStatementFile,
  parseTrustAnchor,
  StatementError,
  type StatementFile,
  statementKinds,
  verifyStatement,
} from '@svc-zerc20/statement'
import { el } from '../dom.js'
import { amount, hash, type Token, utcOf, when } from '../format.js'
import { badge, facts, type Part, section } from '../parts.js'
import { nowMs } from '../system-clock.js'
import type { Whoami } from './api.js'

/** The token whose symbol and decimals are known. */
type KnownToken = Pick<Whoami, 'network' | 'token' | 'tokenLabel'>

/** More than any statement file has. */
const fileBytesMax = 5_000_000

type Given = { readonly name: string; readonly text: string }

let file: Given | undefined
let anchor: Given | undefined
let shown: Part

const isAnchor = (text: string): boolean => {
  try {
    parseTrustAnchor(text)
    return true
  } catch {
    return false
  }
}

/** Takes files in any order: which is which is told by what is in them. A folder has nothing in it. */
export async function takeFiles(files: readonly File[], known: KnownToken | undefined): Promise<void> {
  for (const each of files) {
    const text = await each
      .slice(0, fileBytesMax)
      .text()
      .catch(() => '')
    const given = { name: each.name, text }
    if (isAnchor(given.text)) anchor = given
    else file = given
  }
  shown = file && (await judged(file, known))
}

export function forgetFiles(): void {
  file = undefined
  anchor = undefined
  shown = undefined
}

async function judged({ text }: Given, known: KnownToken | undefined): Promise<Part> {
  try {
    const { statement, manifest, revocations } = parseStatementFile(text)
    if (!anchor)
      return el(
        'p',
        { class: 'note' },
        'Now drop the trust anchor of its issuer, which you got from the issuer by another way.',
      )
    const verdict = await verifyStatement(statement, {
      trustAnchor: parseTrustAnchor(anchor.text),
      manifests: present(manifest),
      revocations: present(revocations),
      now: Math.floor(nowMs() / 1000),
    })
    if (!verdict.ok) return refused(verdict.reason, verdict.message)
    return believed(verdict.statement, known)
  } catch (error) {
    if (error instanceof StatementError) return refused(error.reason, error.message)
    throw error
  }
}

const present = (text: StatementFile['manifest']): string[] => (text === undefined ? [] : [text])

const refused = (reason: string, message: string): HTMLElement =>
  el(
    'div',
    { class: 'note bad' },
    badge('not believed', 'bad'),
    ' ',
    el('strong', {}, message),
    ' ',
    el('code', {}, reason),
  )

type Believed = Extract<Awaited<ReturnType<typeof verifyStatement>>, { ok: true }>['statement']

const times = /(?:At|since|until)$/
const units = new Set([
  'amount',
  'value',
  'accepted',
  'late',
  'fees',
  'finalized',
  'fee',
  'listPrice',
  'minted',
])

function claimText(name: string, value: Claims[string], token: Token | undefined): Part {
  if (times.test(name) && typeof value === 'number') return when(value)
  if (units.has(name)) return amount(String(value), token)
  return String(value).startsWith('0x') ? el('code', { class: 'break' }, String(value)) : String(value)
}

/** Amounts of another token have other decimals, which nobody told. */
const labelOf = ({ claims }: Believed, known: KnownToken | undefined): Token | undefined =>
  known && claims.network === known.network && isSame(claims.token, known.token)
    ? known.tokenLabel
    : undefined

const isSame = (one: unknown, other: string) => String(one).toLowerCase() === other.toLowerCase()

function believed(statement: Believed, known: KnownToken | undefined): HTMLElement {
  const token = labelOf(statement, known)
  const { kind, issuer, audience, nonce, jti, issuedAt, expiresAt, claims, undisclosed, revocationsAt } =
    statement
  return el(
    'div',
    {},
    el(
      'p',
      { class: 'note' },
      badge('believed', 'good'),
      ' ',
      el('strong', {}, `It says: ${statementKinds[kind].says}.`),
    ),
    facts(
      ...Object.entries(claims).map(([name, value]) => [name, claimText(name, value, token)] as const),
      ['Not told', undisclosed.join(', ') || 'nothing'],
      ['Issuer', issuer],
      ['Made for', audience],
      ['Nonce of the verifier', nonce],
      ['Issued', when(issuedAt)],
      ['Good until', when(expiresAt)],
      [
        'Not revoked as of',
        revocationsAt === undefined
          ? undefined
          : el('span', { title: utcOf(revocationsAt) }, when(revocationsAt)),
      ],
      ['Name of the statement', hash(jti)],
    ),
  )
}

export function statementCheck(): HTMLElement {
  return section(
    'Check a statement',
    el(
      'p',
      {},
      'Drop a statement file and the trust anchor of its issuer here. Both stay in this browser: the check needs no network and no login.',
    ),
    el(
      'label',
      { class: 'drop', 'data-drop': '' },
      el('span', {}, file ? `Statement: ${file.name}` : 'Statement: none yet'),
      el('span', {}, anchor ? `Trust anchor: ${anchor.name}` : 'Trust anchor: none yet'),
      el('input', { type: 'file', multiple: '', 'data-files': '' }),
    ),
    el('div', { role: 'status' }, shown instanceof Node ? shown.cloneNode(true) : shown),
  )
}
