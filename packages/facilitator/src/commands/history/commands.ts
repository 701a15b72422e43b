/** `svc-facilitator history …`: what the operator of a payment history does by hand. */
import { exitCodes } from '@svc-zerc20/daemon'
import { SvcError } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { loadConfig } from '../../config/config.js'
import { describe } from '../../config/finding.js'
import { baseUrl } from '../../config/schema.js'
import type { Environment } from '../../config/secrets/environment.js'
import { examineHistory, type ParticipantRole, participantRoles } from '../../config/secrets/history.js'
import { historyUrlOf } from '../../config/settings.js'
import { systemRandom } from '../../system.js'
import { registerIssuerCommands } from './issuer.js'

const historyHelp = `
Exit codes:
  ${exitCodes.ok}   done
  ${exitCodes.mistake}   a mistake in configuration, environment or command line; fix it first`

const tokenHelp = `
Prints the token and nothing else to standard output; it is good for 15 minutes. It needs the environment variables of
the history, and no daemon: whoever has HISTORY_IDENTITY_SECRET can make tokens. The daemon takes it if it has the same
secret and knows itself by the same URL: history.url, or where it listens.

Examples:
  svc-facilitator history token --role provider --config facilitator.toml
  curl -H "Authorization: Bearer $(svc-facilitator history token --role payer --config facilitator.toml)" \\
    http://127.0.0.1:4032/history/whoami
${historyHelp}`

type TokenCommand = {
  readonly config: string
  readonly role: ParticipantRole
  readonly url?: string
}

/** Adds the command `history` with its verbs. */
export function registerHistoryCommands(program: Command, env: Environment): void {
  const history = program
    .command('history')
    .description('identity tokens of the payment history, and its statement issuer')
    .addHelpText('after', historyHelp)
  history
    .command('token')
    .description('make an identity token, for a participant without a wallet')
    .requiredOption('--config <file>', 'configuration file (TOML)')
    .addOption(new Option('--role <role>', 'whose token').choices(participantRoles).makeOptionMandatory())
    .option('--url <url>', 'the URL of the daemon as participants use it, instead of history.url', readUrl)
    .addHelpText('after', tokenHelp)
    .action((options: TokenCommand) => printToken(options, env))
  registerIssuerCommands(history, env)
}

function readUrl(text: string): string {
  const { data: url } = baseUrl.safeParse(text)
  if (url === undefined) throw new InvalidArgumentError(`${baseUrl.description}.`)
  return url
}

async function printToken({ config: file, role, url: given }: TokenCommand, env: Environment): Promise<void> {
  const config = loadConfig(file)
  const { history, findings } = examineHistory(env, config)
  if (!history) throw mistake(findings.length === 0 ? detached : findings.map(describe).join('\n'))
  // The daemon alone knows the port that the system gave it.
  if (given === undefined && config.history.url === undefined && config.listen.port === 0)
    throw mistake(
      'history.url: not set, and listen.port is 0, so the address of the daemon is unknown; give it with --url',
    )
  const { createTokens } = await import('../../history/identity/tokens.js')
  const url = given ?? historyUrlOf(config)
  const tokens = createTokens({ settings: history, url, clock: systemClock, random: systemRandom })
  const { token, expiresAt } = await tokens.issue(role)
  process.stdout.write(`${token}\n`)
  process.stderr.write(`for the ${role} at ${url}, until ${new Date(expiresAt * 1000).toISOString()}\n`)
}

const mistake = (message: string) => new SvcError('config_invalid', message)

const detached =
  'PAYMENT_HISTORY_PATH: not set: there is no payment history, so nobody has tokens; set the whole group of variables'
