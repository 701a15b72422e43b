/** The payment history of a local network: its variables, as the daemon and the operator's commands read them. */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { developmentRoles } from '../node/accounts.js'

export type HistoryEnv = {
  readonly PAYMENT_HISTORY_PATH?: string
  readonly [name: `HISTORY_${string}`]: string
}

/** Draws a secret and names the participants. The variables are also written to a file, for the operator's commands. */
export function openHistory(
  directory: string,
  path: string,
): { readonly env: HistoryEnv; readonly envFile: string } {
  const { payer, provider } = developmentRoles
  const env = {
    PAYMENT_HISTORY_PATH: path,
    HISTORY_IDENTITY_SECRET: randomBytes(32).toString('hex'),
    HISTORY_PAYER_TENANT: 'devnet-payer',
    HISTORY_PAYER_ACTOR: 'payer',
    HISTORY_PROVIDER_TENANT: 'devnet-provider',
    HISTORY_PROVIDER_ACTOR: 'provider',
    HISTORY_PAYER_ADDRESS: payer.address,
    HISTORY_PROVIDER_ADDRESS: provider.address,
  } satisfies HistoryEnv
  const envFile = join(directory, 'history.env')
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(envFile, lines.join(''), { mode: 0o600 })
  return { env, envFile }
}

/** Commands that ask for the history. Empty where none is kept. */
export function howToAsk({
  historyEnvFile,
  configFile,
  facilitatorUrl,
}: {
  readonly historyEnvFile: string | undefined
  readonly configFile: string
  readonly facilitatorUrl: string
}): string[] {
  if (historyEnvFile === undefined) return []
  return [
    'payment history of the development payer and provider; ask for it like this, or as --role payer:',
    `  set -a; . ${historyEnvFile}; set +a`,
    `  token=$(npm run -s facilitator -- history token --role provider --config ${configFile})`,
    `  curl -s -H "authorization: Bearer $token" ${facilitatorUrl}/history/payments`,
  ]
}
