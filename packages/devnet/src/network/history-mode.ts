/** The payment history of a local network: its variables, as the daemon and the operator's commands read them. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { developmentRoles } from '../node/accounts.js'

type HistoryEnv = Readonly<Record<string, string>>

/**
 * Draws a secret, names the participants and makes a statement issuer, if the folder has none. The variables are also written
 * to a file, for the operator's commands.
 */
export async function openHistory({
  directory,
  path,
  issuer,
  proofs,
  command,
}: {
  readonly directory: string
  /** File of the records. */
  readonly path: string
  /** Folders of the issuer's keys and of its proofs. */
  readonly issuer: string
  readonly proofs: string
  /** The script of `svc-facilitator`. */
  readonly command: string
}): Promise<{ readonly env: HistoryEnv; readonly envFile: string }> {
  if (!existsSync(issuer)) {
    const args = ['history', 'issuer', 'init', '--folder', issuer, '--issuer', 'svc-devnet']
    await promisify(execFile)(process.execPath, [command, ...args], { env: {} })
  }
  mkdirSync(proofs, { recursive: true })
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
    HISTORY_ISSUER_PRIVATE_KEY_PATH: join(issuer, 'issuer-private-key.pem'),
    HISTORY_ISSUER_MANIFEST_PATH: join(issuer, 'manifest.jws'),
    HISTORY_ISSUER_TRUST_ANCHOR_PATH: join(issuer, 'trust-anchor.json'),
    HISTORY_ARTIFACT_PATH: proofs,
  }
  const envFile = join(directory, 'history.env')
  // In quotes, because a shell reads it and a folder's name may have blanks.
  const lines = Object.entries(env).map(([name, value]) => `${name}='${value}'\n`)
  writeFileSync(envFile, lines.join(''), { mode: 0o600 })
  return { env, envFile }
}

/** Commands that ask for the history. Empty where none is kept. */
export function howToAsk({
  historyEnvFile,
  configFile,
}: {
  readonly historyEnvFile: string | undefined
  readonly configFile: string
}): string[] {
  if (historyEnvFile === undefined) return []
  return [
    'payment history of the development payer and provider; ask for it like this, or with --role payer:',
    `  set -a; . ${join(dirname(historyEnvFile), 'env')}; . ${historyEnvFile}; set +a`,
    `  token=$(svc-facilitator history token --role provider --config ${configFile})`,
    `  curl -s -H "authorization: Bearer $token" $FACILITATOR_URL/history/payments`,
  ]
}
