/** Checks the files and folders of the payment history and of its issuer of statements. Creates nothing. */
import { constants } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type Clock, unixSeconds } from '@svc-zerc20/protocol'
import type { PartialConfig } from '../../config/config.js'
import { type Finding, fail, ok } from '../../config/finding.js'
import type { Environment } from '../../config/secrets/environment.js'
import { examineHistory, type HistorySettings, type IssuerSettings } from '../../config/secrets/history.js'
import { judgeFile, judgeFolder, judgeSpace } from './files.js'

/** The daemon that runs may have the history open: its lock is left alone. */
export async function probeHistory(
  env: Environment,
  config: PartialConfig,
  clock: Pick<Clock, 'now'>,
): Promise<Finding[]> {
  const { history } = examineHistory(env, config)
  if (!history) return []
  const ofIssuer = history.issuer ? await judgeIssuer(history.issuer, clock) : []
  return [...(await judgeRecords(history)), ...ofIssuer]
}

async function judgeRecords({ path, hasWalletLogin, issuer }: HistorySettings): Promise<Finding[]> {
  const key = 'PAYMENT_HISTORY_PATH'
  const misplaced = await judgeFile(key, path)
  if (misplaced) return [misplaced]
  const file = await stat(path).catch(() => undefined)
  const size = file ? `has ${file.size} bytes` : 'can be written'
  const login = hasWalletLogin ? 'wallet login' : 'no wallet login'
  const message = `${path} ${size}; ${login}, ${issuer ? 'statements are issued' : 'no statements are issued'}`
  return [ok(key, message), ...(await judgeSpace(key, path))]
}

/** Whether key, manifest and trust anchor belong together. The libraries for it are loaded where there is an issuer. */
async function judgeIssuer(settings: IssuerSettings, clock: Pick<Clock, 'now'>): Promise<Finding[]> {
  const { artifactPath, privateKeyPath } = settings
  const { examineIssuer } = await import('../../history/statements/issuer.js')
  const { issuer, findings } = examineIssuer(settings, unixSeconds(clock))
  const key = 'HISTORY_ISSUER_PRIVATE_KEY_PATH'
  const { mode } = await stat(privateKeyPath).catch(() => ({ mode: 0 }))
  const isOpen = (mode & constants.S_IRWXO) !== 0
  const message = `${privateKeyPath} can be used by every user of this machine; take that away with chmod o= ${privateKeyPath}`
  const folder = 'HISTORY_ARTIFACT_PATH'
  return [
    (await judgeFolder(folder, artifactPath)) ?? ok(folder, `${artifactPath} can be written`),
    ...(isOpen ? [fail(key, message)] : []),
    ...(issuer ? [ok(key, `${issuer.id} signs statements with the key ${issuer.kid}`)] : []),
    ...findings,
  ]
}
