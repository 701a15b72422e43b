/** Why the daemon does not start, as the last line of its log: a supervisor that collects logs sees no standard error. */
import { SvcError } from '@svc-zerc20/protocol'
import { describe, type Finding } from '../config/finding.js'
import type { LogEvent } from '../telemetry/events.js'

export type StartFailure = Extract<LogEvent, { event: 'facilitator.failed' }>

/** Our own errors about a setting begin with its name. */
const aboutKey = /^((?:[a-z_0-9]+\.)?[a-z_0-9]+|[A-Z][A-Z_0-9]+): /
/** Codes of the system for an address that the daemon cannot listen on. */
const listenCodes = new Set(['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES', 'ENOTFOUND'])

export function of(error: unknown): StartFailure {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  const named = error instanceof SvcError ? aboutKey.exec(message)?.[1] : undefined
  const key = named ?? (listenCodes.has(code) ? 'listen.port' : undefined)
  return { event: 'facilitator.failed', ...(key !== undefined && { key }), code, message }
}

export const ofFinding = (finding: Finding): StartFailure => ({
  event: 'facilitator.failed',
  key: finding.key,
  code: finding.start === 'later' ? 'try_again' : 'mistake',
  message: describe(finding),
})
