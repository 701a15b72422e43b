/**
 * The daemon's environment variables, as one schema: each is read by it, and the reference page is generated from it.
 * The only file of the daemon that uses `process.env`.
 */
import { parseAccountKey } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import * as z from 'zod'
import type { Finding } from '../finding.js'
import { address, parsedBy, path } from '../schema.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** A shorter bearer token could be guessed over the network. */
export const tokenCharactersMin = 16

/** A shorter secret could be found by trying, because everybody who has a token can check a guess. */
const identitySecretCharactersMin = 32

export const statementTtlSecondsDefault = 30 * 86_400
const statementTtlSecondsMax = 10 * 366 * 86_400

/** Longest name of a tenant, an actor, an issuer or a key: all of them stand in tokens and statements. */
const historyNameCharactersMax = 200

const accountKey = parsedBy<Hex>(
  'a private key: 64 hex digits, with or without 0x, within the range of the curve',
  parseAccountKey,
)

// A header can carry no other characters, so such a token could never be used.
const token = z.string().regex(/^[\x21-\x7e]+$/)

/** A blank at an end is a typing mistake: no token would have the name that was meant. */
const historyName = z
  .string()
  .max(historyNameCharactersMax)
  .refine((text) => text === text.trim() && !/\p{C}/u.test(text))
  .describe(`1 to ${historyNameCharactersMax} printable characters, without blanks at its ends`)

const wallet = address.describe(`${address.description}; capitals, if mixed, must be those of its checksum`)

const statementTtl = z
  .string()
  .regex(/^[1-9]\d{0,9}$/)
  .transform(Number)
  .pipe(z.number().max(statementTtlSecondsMax))

/** The type says what is allowed. That completes the sentence "must be …". */
const variable = <T extends z.ZodType>(type: T, required: string, about: string) =>
  type.meta({ required, about, allowed: type.description })

/**
 * The groups of the payment history, and what their variables are needed for. `history` and `issuer` are all or nothing;
 * `wallet` needs the first, `refinement` needs the second.
 */
const historyGroups = {
  history: 'history group',
  wallet: 'wallet login, together with the other address',
  issuer: 'issuer group',
  refinement: 'never',
} as const

type HistoryGroup = keyof typeof historyGroups

const ofHistory = <T extends z.ZodType>(type: T, group: HistoryGroup, about: string) =>
  type.meta({ required: historyGroups[group], group, about, allowed: type.description })

export const variables = {
  SVC_TREASURY_PK: variable(
    accountKey,
    'always',
    'Seed of the burn secrets; whoever has it can find every burn address again. Signs the custodial fee ' +
      'transfers. In split mode it is entropy only.',
  ),
  SVC_RELAYER_PK: variable(
    accountKey,
    'always',
    'Relays gasless burns, and submits mints unless `SVC_MINTER_PK` is set. Its account pays their gas and must be ' +
      'funded.',
  ),
  SVC_MINTER_PK: variable(
    accountKey.describe(
      'a private key like the others; neither that of the relayer nor that of the treasury',
    ),
    'never',
    'Submits mints, so that burns and mints have no sender in common. Its account pays their gas and must be funded. ' +
      'Unset: the relayer submits mints.',
  ),
  SVC_ADMIN_TOKEN: variable(
    token.describe('printable ASCII without spaces'),
    'unless `profile = "local"` and the bind is loopback',
    'Bearer token of `/admin/*`. Where it is not required and not set, `/admin/*` is locked and answers 401. ' +
      `\`check\` warns below ${tokenCharactersMin} characters.`,
  ),
  SVC_DECIDER_TOKEN: variable(
    token
      .min(tokenCharactersMin)
      .describe(`printable ASCII without spaces, ${tokenCharactersMin} characters or more`),
    'never',
    'Bearer token of the decider: if it is set, batch proofs and the secrets of their burn addresses go to ' +
      '`network.decider_url`. Unset: the daemon proves by itself.',
  ),
  SVC_STORAGE_PASSWORD: variable(
    z.string().min(1).describe('any text'),
    'never',
    'Password of the database at `storage.url`.',
  ),
  SVC_STORAGE_PASSWORD_FILE: variable(
    path.describe('the path of a file'),
    'never',
    'A file whose first line is the password of the database, instead of `SVC_STORAGE_PASSWORD`.',
  ),
  PAYMENT_HISTORY_PATH: ofHistory(
    path.describe('the path of a file; its folder must exist'),
    'history',
    'File of the durable records (JSONL).',
  ),
  HISTORY_IDENTITY_SECRET: ofHistory(
    z
      .string()
      .min(identitySecretCharactersMin)
      .describe(
        `${identitySecretCharactersMin} characters or more, the value of no other variable; make it with openssl rand -hex 32`,
      ),
    'history',
    "Signs the participants' tokens, which live 15 minutes. Whoever has it can read the whole history.",
  ),
  HISTORY_PAYER_TENANT: ofHistory(historyName, 'history', "Tenant in the payer's tokens."),
  HISTORY_PAYER_ACTOR: ofHistory(
    historyName,
    'history',
    "Actor in the payer's tokens. Tenant and actor of payer and provider must not both be equal.",
  ),
  HISTORY_PROVIDER_TENANT: ofHistory(historyName, 'history', "Tenant in the provider's tokens."),
  HISTORY_PROVIDER_ACTOR: ofHistory(historyName, 'history', "Actor in the provider's tokens."),
  HISTORY_PAYER_ADDRESS: ofHistory(
    wallet,
    'wallet',
    "The payer's account. The payer sees the payments that were burned from it. Unset: the payer sees a payment whose " +
      'challenge nonce it presents, and nothing else.',
  ),
  HISTORY_PROVIDER_ADDRESS: ofHistory(
    wallet.describe(`${wallet.description}; not the payer's`),
    'wallet',
    "The provider's account, for the login only: the provider sees the payments of `settlement.treasury`.",
  ),
  HISTORY_ISSUER_PRIVATE_KEY_PATH: ofHistory(
    path.describe('the path of a file that only its owner and its group can read'),
    'issuer',
    'Private key that signs statements (Ed25519, PEM). `svc-facilitator history issuer init` makes it, the manifest and the anchor.',
  ),
  HISTORY_ISSUER_MANIFEST_PATH: ofHistory(
    path.describe('the path of a file'),
    'issuer',
    "The issuer's keys, signed by the trust anchor.",
  ),
  HISTORY_ISSUER_TRUST_ANCHOR_PATH: ofHistory(
    path.describe('the path of a file'),
    'issuer',
    'Public key of the trust anchor. Verifiers have the same file from you, by another way.',
  ),
  HISTORY_ARTIFACT_PATH: ofHistory(
    path.describe('the path of a folder that exists'),
    'issuer',
    'Folder of the issued statements and of the revocations.',
  ),
  HISTORY_ISSUER_ID: ofHistory(
    historyName,
    'refinement',
    'The issuer that the manifest must name. Unset: whichever it names.',
  ),
  HISTORY_ISSUER_KEY_ID: ofHistory(
    historyName,
    'refinement',
    'The key of the manifest that the private key must be. Unset: the one that belongs to it.',
  ),
  HISTORY_PROOF_TTL_SECONDS: ofHistory(
    statementTtl.describe(`a whole number from 1 to ${statementTtlSecondsMax}`),
    'refinement',
    `How long a statement is valid. Unset: ${statementTtlSecondsDefault}, which is 30 days.`,
  ),
} as const

export type VariableName = keyof typeof variables
type VariableEntry = {
  readonly name: VariableName
  readonly required: string
  readonly allowed: string
  readonly about: string
  readonly group?: HistoryGroup
}

/** The schema as a list, in the order of the reference. */
const entries = Object.entries(variables).map(([name, type]) => ({ name, ...type.meta() }) as VariableEntry)
/** The variables of the daemon itself, and those of the payment history. */
export const environmentVariables = entries.filter(({ group }) => group === undefined)
export const historyVariables = entries.filter(({ group }) => group !== undefined)

export const namesOf = (group: HistoryGroup): VariableName[] =>
  historyVariables.filter((one) => one.group === group).map(({ name }) => name)

export type Say = (level: Finding['level'], key: string, message: string) => void

/**
 * The value of a variable, or undefined when it is not set or not allowed. An empty variable in an environment file means
 * that there is none. The finding never shows the value.
 */
export function readVariable<Name extends VariableName>(
  env: Environment,
  name: Name,
  say: Say,
): z.output<(typeof variables)[Name]> | undefined {
  if (!env[name]) return undefined
  const { success, data } = variables[name].safeParse(env[name])
  if (!success) say('fail', name, `must be ${variables[name].meta()?.allowed}`)
  return data as z.output<(typeof variables)[Name]> | undefined
}

/** Also true for misspelled names, so that a secret under a wrong name leaves the environment as well. */
export const belongsToHistory = (name: string): boolean =>
  name === 'PAYMENT_HISTORY_PATH' || name.startsWith('HISTORY_')

/** Keys of our other programs. An operator may have them in the same environment file. */
export const keysOfOtherPrograms = ['SVC_PAYER_PK', 'SVC_INDEXER_PK'] as const

const ownNames: readonly string[] = [...environmentVariables.map(({ name }) => name), ...keysOfOtherPrograms]

/**
 * Whether a variable is removed from the environment at the start. All variables of the history are removed, because
 * they name people and their accounts.
 */
export const isTakenOut = (name: string): boolean => ownNames.includes(name) || belongsToHistory(name)

/**
 * Copies the environment and removes the secrets from the process, so that later threads and child processes inherit
 * none and diagnostic reports show none. The kernel's copy from the start remains: the daemon's user and root can still
 * read `/proc/PID/environ` and memory dumps.
 */
export function takeEnvironment(): Environment {
  const taken = { ...process.env }
  for (const name of Object.keys(taken).filter(isTakenOut)) delete process.env[name]
  return taken
}
