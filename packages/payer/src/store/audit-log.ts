/** Every decision about money, one line each, only ever appended. */
import { rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../clock.js'
import { PayerError } from '../payer-error.js'
import { appendLine, makeFolder } from './files.js'

export type AuditEvent =
  | 'refused'
  | 'allowed'
  | 'approval_asked'
  | 'approved'
  | 'not_approved'
  | 'signing'
  | 'paid'
  | 'served'
  | 'unserved'
  | 'released'

export type AuditEntry = {
  readonly event: AuditEvent
  readonly challengeNonce?: string
  readonly [fact: string]: string | number | undefined
}

export type AuditLog = { append(entry: AuditEntry): Promise<void> }

/** A log that keeps nothing. */
export const noAudit: AuditLog = { append: async () => undefined }

export const auditFile = 'audit.jsonl'
/** A longer file is put aside under a name with its time. Files put aside are still read. */
const bytesMax = 33_554_432

export function createAuditLog({
  folder,
  clock,
}: {
  readonly folder: string
  readonly clock: Clock
}): AuditLog {
  const path = join(folder, auditFile)
  return {
    async append(entry) {
      try {
        await makeFolder(folder)
        const { size } = await stat(path).catch(() => ({ size: 0 }))
        if (size > bytesMax) await rename(path, join(folder, `audit-${clock.now()}.jsonl`))
        await appendLine(path, JSON.stringify({ at: new Date(clock.now()).toISOString(), ...entry }))
      } catch (cause) {
        throw new PayerError('state_unusable', `${path}: ${(cause as Error).message}`, { cause })
      }
    },
  }
}
