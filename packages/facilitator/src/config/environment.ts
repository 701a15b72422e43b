/** Table of the daemon's environment variables. The reference page is generated from it. */

export type Environment = Readonly<Record<string, string | undefined>>

export type EnvironmentVariable = {
  readonly name: string
  readonly required: string
  /** The required form, in words. */
  readonly allowed: string
  readonly about: string
}

/** A shorter bearer token could be guessed over the network. */
export const adminTokenCharactersMin = 16

export const environmentVariables = [
  {
    name: 'SVC_TREASURY_PK',
    required: 'always',
    allowed: 'a private key: 64 hex digits, with or without 0x, within the range of the curve',
    about:
      'Seed of the burn secrets; whoever has it can find every burn address again. Signs the custodial fee ' +
      'transfers. In split mode it is entropy only.',
  },
  {
    name: 'SVC_RELAYER_PK',
    required: 'always',
    allowed: 'a private key: 64 hex digits, with or without 0x, within the range of the curve',
    about:
      'Relays gasless burns, and submits mints unless `SVC_MINTER_PK` is set. Its account pays their gas and must be ' +
      'funded.',
  },
  {
    name: 'SVC_MINTER_PK',
    required: 'never',
    allowed: 'a private key like the others; neither that of the relayer nor that of the treasury',
    about:
      'Submits mints, so that burns and mints have no sender in common. Its account pays their gas and must be funded. ' +
      'Unset: the relayer submits mints.',
  },
  {
    name: 'SVC_ADMIN_TOKEN',
    required: 'unless `profile = "local"` and the bind is loopback',
    allowed: `printable ASCII without spaces; \`check\` warns below ${adminTokenCharactersMin} characters`,
    about:
      'Bearer token of `/admin/*`. Where it is not required and not set, `/admin/*` is locked and answers 401.',
  },
  {
    name: 'SVC_DECIDER_TOKEN',
    required: 'never',
    allowed: 'printable ASCII without spaces, 16 characters or more',
    about:
      'Bearer token of the decider at `network.decider_url`. Set: batch proofs are made there, and the secrets of ' +
      'their burn addresses are sent there. Unset: the daemon proves by itself.',
  },
] as const satisfies readonly EnvironmentVariable[]

/** A shorter secret could be found by trying, because everybody who has a token can check a guess. */
export const identitySecretCharactersMin = 32

export const proofTtlSecondsDefault = 30 * 86_400
export const proofTtlSecondsMax = 10 * 366 * 86_400

/** Longest name of a tenant, an actor, an issuer or a key: all of them stand in tokens and proofs. */
export const historyNameCharactersMax = 200

/**
 * What a variable of the payment history belongs to. `history` and `issuer` are all-or-nothing groups; `wallet` and
 * `rotation` need the first, `refinement` needs the second.
 */
export type HistoryGroup = 'history' | 'rotation' | 'wallet' | 'issuer' | 'refinement'

const historyName = `1 to ${historyNameCharactersMax} printable characters`

export const historyVariables = [
  {
    name: 'PAYMENT_HISTORY_PATH',
    group: 'history',
    required: 'history group',
    allowed: 'the path of a file; its folder must exist',
    about:
      'File of the durable records (JSONL). Full files and the index stand beside it, under names that begin with its own.',
  },
  {
    name: 'HISTORY_IDENTITY_SECRET',
    group: 'history',
    required: 'history group',
    allowed: `${identitySecretCharactersMin} characters or more, the value of no other variable`,
    about:
      "Signs the participants' tokens, which live 15 minutes. Whoever has it can read the whole history.",
  },
  {
    name: 'HISTORY_PAYER_TENANT',
    group: 'history',
    required: 'history group',
    allowed: historyName,
    about: "Tenant in the payer's tokens.",
  },
  {
    name: 'HISTORY_PAYER_ACTOR',
    group: 'history',
    required: 'history group',
    allowed: historyName,
    about: "Actor in the payer's tokens. Tenant and actor of payer and provider must not both be equal.",
  },
  {
    name: 'HISTORY_PROVIDER_TENANT',
    group: 'history',
    required: 'history group',
    allowed: historyName,
    about: "Tenant in the provider's tokens.",
  },
  {
    name: 'HISTORY_PROVIDER_ACTOR',
    group: 'history',
    required: 'history group',
    allowed: historyName,
    about: "Actor in the provider's tokens.",
  },
  {
    name: 'HISTORY_IDENTITY_SECRET_PREVIOUS',
    group: 'rotation',
    required: 'never',
    allowed: 'like `HISTORY_IDENTITY_SECRET`, and another value',
    about:
      'The secret before the newest one. Its tokens are accepted until they expire; no new token is made with it. Unset ' +
      'it 15 minutes after a rotation, and at once if it leaked.',
  },
  {
    name: 'HISTORY_PAYER_ADDRESS',
    group: 'wallet',
    required: 'wallet login, together with `HISTORY_PROVIDER_ADDRESS`',
    allowed: 'an address, not zero',
    about:
      "The payer's account. The payer sees the payments that were burned from it. Unset: the payer sees a payment whose " +
      'challenge nonce it presents, and nothing else.',
  },
  {
    name: 'HISTORY_PROVIDER_ADDRESS',
    group: 'wallet',
    required: 'wallet login, together with `HISTORY_PAYER_ADDRESS`',
    allowed: "an address, not zero, and not the payer's",
    about:
      "The provider's account, for the login only: the provider sees the payments of `settlement.treasury`.",
  },
  {
    name: 'HISTORY_ISSUER_PRIVATE_KEY_PATH',
    group: 'issuer',
    required: 'issuer group',
    allowed: 'the path of a file that only its owner and its group can read',
    about:
      'Private key that signs proofs (Ed25519, PEM). `svc-facilitator history issuer init` makes it, the manifest and the anchor.',
  },
  {
    name: 'HISTORY_ISSUER_MANIFEST_PATH',
    group: 'issuer',
    required: 'issuer group',
    allowed: 'the path of a file',
    about: "The issuer's keys, signed by the trust anchor.",
  },
  {
    name: 'HISTORY_ISSUER_TRUST_ANCHOR_PATH',
    group: 'issuer',
    required: 'issuer group',
    allowed: 'the path of a file',
    about: 'Public key of the trust anchor. Verifiers have the same file from you, by another way.',
  },
  {
    name: 'HISTORY_ARTIFACT_PATH',
    group: 'issuer',
    required: 'issuer group',
    allowed: 'the path of a folder that exists',
    about: 'Folder of the issued proofs and of the revocations.',
  },
  {
    name: 'HISTORY_ISSUER_ID',
    group: 'refinement',
    required: 'never',
    allowed: historyName,
    about: 'The issuer that the manifest must name. Unset: whichever it names.',
  },
  {
    name: 'HISTORY_ISSUER_KEY_ID',
    group: 'refinement',
    required: 'never',
    allowed: historyName,
    about: 'The key of the manifest that the private key must be. Unset: the one that belongs to it.',
  },
  {
    name: 'HISTORY_PROOF_TTL_SECONDS',
    group: 'refinement',
    required: 'never',
    allowed: `a whole number from 1 to ${proofTtlSecondsMax}`,
    about: `How long a proof is valid. Unset: ${proofTtlSecondsDefault}, which is 30 days.`,
  },
] as const satisfies readonly (EnvironmentVariable & { readonly group: HistoryGroup })[]

export type HistoryVariable = (typeof historyVariables)[number]['name']

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
