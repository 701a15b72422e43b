/** `svc-facilitator history issuer …`: makes and changes the key, the manifest and the revocations of the statement issuer. */
import { exitCodes } from '@svc-zerc20/daemon'
import { SvcError, unixSeconds } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import type { Command } from 'commander'
import type { Environment } from '../../config/secrets/environment.js'
import type { Written } from '../../history/statements/issuer-files.js'
import { systemRandom } from '../../system.js'

const exitCodesHelp = `
Exit codes:
  ${exitCodes.ok}   done
  ${exitCodes.mistake}   refused: a file is missing or does not fit, or a mistake on the command line`

const issuerHelp = `
A trust anchor signs the manifest, the manifest names the issuer's keys, and a key signs statements. Verifiers know the anchor
alone. Keep trust-anchor-private-key.pem on another machine: only rotate and revoke-key need it (--anchor-key). A running
daemon reads key and manifest again by itself.

Examples:
  svc-facilitator history issuer init --folder issuer --issuer https://pay.example
  svc-facilitator history issuer rotate --folder issuer
  svc-facilitator history issuer revoke-key KEY_ID --folder issuer
  svc-facilitator history issuer revoke JTI --artifacts statements
${exitCodesHelp}`

type Common = { readonly folder: string; readonly anchorKey?: string }

/** Adds `issuer` to the commands about the history. */
export function registerIssuerCommands(history: Command, env: Environment): void {
  const issuer = history
    .command('issuer')
    .description('make and change key, manifest and revocations of the statement issuer')
    .addHelpText('after', issuerHelp)
  const verb = (name: string, description: string) =>
    issuer.command(name).description(description).addHelpText('after', exitCodesHelp)
  addKeys(verb)
  addRevocations(verb, env)
}

type Verb = (name: string, description: string) => Command

const anchorKeyOption = [
  '--anchor-key <file>',
  'private key of the anchor, if it is not in the folder',
] as const
const folderOption = ['--folder <folder>', 'where the files of the issuer are'] as const

/** How long a manifest is good, and how long the key before a rotation may still sign. */
const manifestDays = 400
const overlapMinutes = 60

const now = () => unixSeconds(systemClock)
const random = systemRandom

function addKeys(verb: Verb): void {
  verb('init', 'make trust anchor, key and manifest in a new folder')
    .requiredOption(...folderOption)
    .requiredOption('--issuer <name>', 'name of the issuer in every statement, for example its URL')
    .action((options: Common & { issuer: string }) =>
      run(async () => {
        const { initIssuer } = await import('../../history/statements/issuer-files.js')
        const written = await initIssuer({ ...options, days: manifestDays, now: now(), random })
        print([
          `made the issuer ${options.issuer} with the key ${written.kid}`,
          '',
          'Give this file to whoever verifies statements:',
          `  ${written.files.anchor}`,
          'Move this file to another machine; only rotate and revoke-key need it:',
          `  ${written.files.anchorKey}`,
          'Set for the daemon, beside HISTORY_ARTIFACT_PATH, a folder for the statements:',
          ...settingsOf(written),
        ])
      }),
    )

  verb('rotate', 'make a new key; statements of the old one stay valid')
    .requiredOption(...folderOption)
    .option(...anchorKeyOption)
    .action((options: Common) =>
      run(async () => {
        const { rotateIssuer } = await import('../../history/statements/issuer-files.js')
        const wanted = { ...options, days: manifestDays, overlapMinutes, now: now(), random }
        const written = await rotateIssuer(wanted)
        print([
          `the key is ${written.kid} now; the one before retires in ${overlapMinutes} minutes`,
          ...settingsOf(written),
        ])
      }),
    )

  verb('revoke-key', 'have no statement of a key believed any more, for example because it was stolen')
    .argument('<key-id>', 'name of the key')
    .requiredOption(...folderOption)
    .option(...anchorKeyOption)
    .action((keyId: string, options: Common) =>
      run(async () => {
        const { revokeIssuerKey } = await import('../../history/statements/issuer-files.js')
        const written = await revokeIssuerKey({ ...options, keyId, now: now() })
        print([
          `the key ${keyId} is revoked from manifest ${written.manifest.seq} on; give the manifest to whoever verifies statements`,
        ])
      }),
    )
}

function addRevocations(verb: Verb, env: Environment): void {
  const { HISTORY_ARTIFACT_PATH: artifacts } = env
  verb('revoke', 'revoke one statement; the list that verifiers get names it within seconds')
    .argument('<jti>', 'the id of the statement')
    .option('--artifacts <folder>', 'folder of the statements; default: HISTORY_ARTIFACT_PATH')
    .action((jti: string, options: { artifacts?: string }) =>
      run(async () => {
        const folder = options.artifacts ?? artifacts
        if (!folder)
          throw new SvcError('bad_option', 'set HISTORY_ARTIFACT_PATH, or name the folder with --artifacts')
        const [{ expiryOf, isJti }, { revoke }] = await Promise.all([
          import('../../history/statements/artifacts.js'),
          import('../../history/statements/revocation-list.js'),
        ])
        const expiresAt = isJti(jti) ? await expiryOf(folder, jti) : undefined
        if (expiresAt === undefined)
          throw new SvcError('statement_unknown', `${jti}: ${folder} has no such statement`)
        await revoke(folder, jti, expiresAt)
        const isOver = expiresAt <= now()
        const text = isOver ? 'has expired already' : `is revoked until it expires at ${timeOf(expiresAt)}`
        print([`the statement ${jti} ${text}`])
      }),
    )
}

const timeOf = (seconds: number) => new Date(seconds * 1_000).toISOString()

const settingsOf = ({ files }: Written): string[] => [
  `  HISTORY_ISSUER_PRIVATE_KEY_PATH=${files.key}`,
  `  HISTORY_ISSUER_MANIFEST_PATH=${files.manifest}`,
  `  HISTORY_ISSUER_TRUST_ANCHOR_PATH=${files.anchor}`,
]

const print = (lines: readonly string[]) => process.stdout.write(`${lines.join('\n')}\n`)

/** Errors of these files, as errors that only the operator can correct. */
const run = (work: () => Promise<void>): Promise<void> =>
  work().catch((cause: Error) => {
    throw new SvcError('issuer_unusable', cause.message, { cause })
  })
