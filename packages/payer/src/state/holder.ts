/** The process at work on a payment, so that other processes know when it is gone. */
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Clock } from '@svc-zerc20/protocol'

export type Holder = {
  readonly pid: number
  /** Tells holders in the same process apart. */
  readonly id: string
  /** Machine, boot and process namespace. The process id has a meaning only there. */
  readonly where: string
  /** After this time the holder counts as gone, whatever the process id says. */
  readonly untilMs: number
}

/** Longer than any holder works on a payment without renewing its hold. */
const leaseMs = 300_000

export const holderNow = (id: string, clock: Clock): Holder => ({
  pid: process.pid,
  id,
  where: here(),
  untilMs: clock.now() + leaseMs,
})

export function isGone({ pid, where, untilMs }: Holder, clock: Clock): boolean {
  if (clock.now() >= untilMs) return true
  if (where !== here() || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    // With any other error the process exists: it only may not be signalled.
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

let known: string | undefined

function here(): string {
  known ??= [
    hostname(),
    linux(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    linux(() => readlinkSync('/proc/self/ns/pid')),
  ].join(' ')
  return known
}

function linux(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
