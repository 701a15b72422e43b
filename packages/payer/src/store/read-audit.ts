/** The audit log, read back. */
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Json } from '@svc-zerc20/protocol'
import { auditFile } from './audit-log.js'
import { errorCode } from './files.js'

export type AuditRecord = { readonly at: string; readonly event: string; readonly [fact: string]: unknown }

export type AuditReading = {
  readonly records: readonly AuditRecord[]
  /** Lines that a crash tore or somebody changed. */
  readonly unreadable: number
}

/** Every line of the log. Files that were put aside come first. */
export async function readAudit(folder: string): Promise<AuditReading> {
  const names = await readdir(folder).catch((error) => {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  })
  const aside = names.filter((name) => /^audit-\d+\.jsonl$/.test(name)).sort()
  const records: AuditRecord[] = []
  let unreadable = 0
  for (const name of [...aside, ...names.filter((each) => each === auditFile)]) {
    for await (const line of createInterface({ input: createReadStream(join(folder, name)) })) {
      const record = line === '' ? undefined : parseRecord(line)
      if (record) records.push(record)
      else if (line !== '') unreadable += 1
    }
  }
  return { records, unreadable }
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
