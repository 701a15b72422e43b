/** Rules between the payment history and the configuration. */
import type { PartialConfig } from '../config.js'
import type { IssuerSettings } from '../history-settings.js'
import type { Say } from './history-values.js'
import { isLoopback } from './loopback.js'

/** Two parts of the daemon that write one file destroy it. The journal and the history have more files beside them. */
export function judgePlaces(
  path: string | undefined,
  { settlement: { journal } }: PartialConfig,
  issuer: IssuerSettings | undefined,
  say: Say,
): void {
  if (path === undefined) return
  const key = 'PAYMENT_HISTORY_PATH'
  const isBeside = (file: string, owner: string) => file === owner || file.startsWith(`${owner}.`)
  if (journal !== undefined && (isBeside(path, journal) || isBeside(journal, path))) {
    say('fail', key, 'is the place of settlement.journal or of a file beside it; take another name')
  }
  const others = {
    HISTORY_ISSUER_PRIVATE_KEY_PATH: issuer?.privateKeyPath,
    HISTORY_ISSUER_MANIFEST_PATH: issuer?.manifestPath,
    HISTORY_ISSUER_TRUST_ANCHOR_PATH: issuer?.trustAnchorPath,
    HISTORY_ARTIFACT_PATH: issuer?.artifactPath,
  }
  for (const [name, other] of Object.entries(others)) {
    if (other !== undefined && isBeside(other, path)) {
      say('fail', name, `is the place of ${key} or of a file beside it; take another name`)
    }
  }
}

export function judgeUrl({ history, listen }: PartialConfig, say: Say): void {
  const key = 'history.url'
  if (history.url === undefined) {
    if (listen.port === 0) {
      say('warn', key, 'not set, while listen.port is 0: tokens and logins are bound to a URL without a port')
    }
    if (listen.host === undefined || isLoopback(listen.host)) return
    say(
      'warn',
      key,
      'not set, while others can reach listen.host: tokens and logins are bound to an http URL of it',
    )
    return
  }
  const { protocol, hostname } = new URL(history.url)
  if (protocol !== 'https:' && !isLoopback(hostname)) {
    say('warn', key, 'is not https: tokens and histories cross the network in the clear')
  }
}

export function judgeJournal({ settlement }: PartialConfig, say: Say): void {
  if (settlement.journal !== 'none') return
  const message =
    'settlement.journal is "none": what happens between the last record and a crash is missing from the history for good'
  say('warn', 'PAYMENT_HISTORY_PATH', message)
}
