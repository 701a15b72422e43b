/** Makes a statement of a statement. */
import { SvcError } from '@svc-zerc20/protocol'
import { base64urlOf } from './encoding.js'
import { isName } from './forms.js'
import { formsOf, type StatementContent, statementKinds } from './kinds.js'
import { sdJwt, statementType } from './sd-jwt.js'
import type { SigningKey } from './signing-key.js'

export type Issue = {
  readonly key: SigningKey
  readonly kid: string
  readonly issuer: string
  readonly audience: string
  /** The verifier's, where it gave one. */
  readonly nonce?: string
  readonly issuedAt: number
  readonly expiresAt: number
  readonly jti: string
  readonly random: { bytes(length: number): Uint8Array }
}

/** A statement with all its disclosures. Throws for claims that no verifier would take, so that none is ever given away. */
export function signStatement({ kind, open, hidden }: StatementContent, issue: Issue): Promise<string> {
  assertForms(formsOf(kind, 'open'), open, 'all')
  assertForms(formsOf(kind, 'hidden'), hidden, 'some')
  const { key, kid, issuer, audience, nonce, issuedAt, expiresAt, jti, random } = issue
  if (![kid, issuer, audience, nonce ?? 'none', jti].every(isName)) {
    throw new SvcError('statement_unfit', 'a name in the statement is empty, too long, or has spaces')
  }
  const { vct, digests } = statementKinds[kind]
  const names = Object.keys(hidden)
  const payload: Record<string, unknown> = {
    iss: issuer,
    iat: issuedAt,
    exp: expiresAt,
    aud: audience,
    ...(nonce === undefined ? {} : { nonce }),
    jti,
    vct,
    ...open,
    ...hidden,
  }
  const instance = sdJwt({
    sign: key.sign,
    salt: () => base64urlOf(random.bytes(16)),
  })
  return instance.issue(
    payload,
    // The library knows the names of claims only by type, and these come from a table.
    { _sd: names, _sd_decoy: digests - names.length } as Parameters<typeof instance.issue>[1],
    { header: { typ: statementType, kid } },
  )
}

function assertForms(
  forms: ReturnType<typeof formsOf>,
  claims: Readonly<Record<string, unknown>>,
  which: 'all' | 'some',
): void {
  const isWhole = which === 'some' || Object.keys(forms).every((name) => name in claims)
  const unfit = Object.entries(claims).find(([name, value]) => forms[name]?.(value) !== true)
  if (!isWhole || unfit) {
    throw new SvcError(
      'statement_unfit',
      `the claim ${unfit?.[0] ?? 'that is missing'} does not fit the statement`,
    )
  }
}
