/** Checks the files and folders of the payment history and of its issuer of statements. Creates nothing. */
import { constants } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Clock, unixSeconds } from '@svc-zerc20/protocol'
import type { PartialConfig } from '../../config/config.js'
import { type Finding, isFailure } from '../../config/finding.js'
import type { Environment } from '../../config/secrets/environment.js'
import type { HistorySettings, IssuerSettings } from '../../config/secrets/history.js'
import { examineHistory, issuerPathsOf } from '../../config/secrets/history.js'
import { allows, judgeFolder, judgePlace, judgeSpace } from './journal.js'

/** The daemon that runs may have the history open: its lock is left alone. */
export async function probeHistory(
  env: Environment,
  config: PartialConfig,
  clock: Pick<Clock, 'now'>,
): Promise<Finding[]> {
  const { history } = examineHistory(env, config)
  const judged = await Promise.all(issuerPathsOf(env).map(([name, path]) => judgeIssuerPath(name, path)))
  const issuer = judged.flat()
  const isReadable = !issuer.some(isFailure)
  return [
    ...(history ? await judgeRecords(history) : []),
    ...issuer,
    ...(history?.issuer && isReadable ? await judgeIssuer(history.issuer, clock) : []),
  ]
}

/** Whether key, manifest and trust anchor belong together. The libraries for it are loaded where there is an issuer. */
async function judgeIssuer(settings: IssuerSettings, clock: Pick<Clock, 'now'>): Promise<readonly Finding[]> {
  const { examineIssuer } = await import('../../history/statements/issuer.js')
  const { issuer, findings } = examineIssuer(settings, unixSeconds(clock))
  if (issuer === undefined) return findings
  const message = `${issuer.id} signs statements with the key ${issuer.kid}`
  return [{ level: 'ok', key: 'HISTORY_ISSUER_PRIVATE_KEY_PATH', message }, ...findings]
}

async function judgeRecords({ path, hasWalletLogin, issuer }: HistorySettings): Promise<Finding[]> {
  const key = 'PAYMENT_HISTORY_PATH'
  const misplaced = await judgePlace(key, path)
  if (misplaced) return [misplaced]
  const file = await stat(path).catch(() => undefined)
  const size = file ? `has ${file.size} bytes` : 'can be written'
  const also = [
    hasWalletLogin ? 'wallet login' : 'no wallet login',
    issuer ? 'statements are issued' : 'no statements are issued',
  ]
  return [
    { level: 'ok', key, message: `${path} ${size}; ${also.join(', ')}` },
    ...(await judgeSpace(key, dirname(path))),
  ]
}

async function judgeIssuerPath(key: string, path: string): Promise<Finding[]> {
  if (key === 'HISTORY_ARTIFACT_PATH') {
    const misplaced = await judgeFolder(key, path)
    return misplaced ? [misplaced] : [{ level: 'ok', key, message: `${path} can be written` }]
  }
  const problem = await judgeFile(path, { isPrivate: key === 'HISTORY_ISSUER_PRIVATE_KEY_PATH' })
  return problem === undefined ? [] : [{ level: 'fail', key, message: problem }]
}

async function judgeFile(path: string, { isPrivate }: { isPrivate: boolean }): Promise<string | undefined> {
  const file = await stat(path).catch(() => undefined)
  if (!file) return `${path} does not exist, or its folder cannot be read`
  if (!file.isFile()) return `${path} is no file`
  if (!(await allows(path, constants.R_OK))) return `${path} is not readable`
  if (isPrivate && (file.mode & constants.S_IRWXO) !== 0) {
    return `${path} can be used by every user of this machine; take that away with chmod o= ${path}`
  }
  return undefined
}
