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
    allowed: 'a private key: 0x and 64 hex digits, within the range of the curve',
    about:
      'Seed of the burn secrets; whoever has it can find every burn address again. Signs the custodial fee ' +
      'transfers. In split mode it is entropy only.',
  },
  {
    name: 'SVC_RELAYER_PK',
    required: 'always',
    allowed: 'a private key: 0x and 64 hex digits, within the range of the curve',
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

/** Variables of the payment history, which this version does not have. */
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
