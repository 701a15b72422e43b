/** Who is at work on a payment, so that another process knows when nobody is any more. */
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Clock } from '../clock.js'

export type Holder = {
  readonly pid: number
  /** Tells apart those who share a process. Absent in what older versions wrote. */
  readonly id?: string
  /** Machine, boot and process namespace: only there does the process id mean anything. */
  readonly where: string
  /** After this time nobody is believed to be at work, whatever the process id says. */
  readonly untilMs: number
}

/** Longer than anybody works on a payment without a word. */
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
    // A process that is not ours to signal lives.
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
