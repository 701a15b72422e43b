/** Every decision about money, one line each, only ever appended. */
import { createReadStream } from 'node:fs'
import { readdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Clock, Json } from '@svc-zerc20/protocol'
import { PayerError } from '../payer-error.js'
import { appendLine, errorCode, makeFolder } from './files.js'

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

/** An entry as it is read back. Its facts may have been changed by somebody else. */
export type AuditRecord = { readonly at: string; readonly event: string; readonly [fact: string]: unknown }

export type AuditLog = {
  append(entry: AuditEntry): Promise<void>
  /** Every entry, the oldest first, and how many lines a crash tore or somebody changed. */
  read(): Promise<{ readonly records: readonly AuditRecord[]; readonly unreadable: number }>
}

/** A log that keeps nothing. */
export const noAudit: AuditLog = {
  append: async () => undefined,
  read: async () => ({ records: [], unreadable: 0 }),
}

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

    async read() {
      const names = await readdir(folder).catch((error) => {
        if (errorCode(error) === 'ENOENT') return []
        throw error
      })
      const aside = names.filter((name) => /^audit-\d+\.jsonl$/.test(name)).sort()
      const records: AuditRecord[] = []
      let unreadable = 0
      for (const name of [...aside, ...names.filter((each) => each === auditFile)]) {
        for await (const line of createInterface({ input: createReadStream(join(folder, name)) })) {
          if (line === '') continue
          const record = parseRecord(line)
          if (record) records.push(record)
          else unreadable += 1
        }
      }
      return { records, unreadable }
    },
  }
}

function parseRecord(line: string): AuditRecord | undefined {
  try {
    const value: unknown = JSON.parse(line)
    const isRecord = Json.isObject(value) && typeof value.at === 'string' && typeof value.event === 'string'
    return isRecord ? (value as AuditRecord) : undefined
  } catch {
    return undefined
  }
}
