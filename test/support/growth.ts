/** Memory of a facilitator under attack, as the operating system counts it. */
import { execFileSync } from 'node:child_process'
import type { LocalNetwork } from '@svc-zerc20/devnet'

/**
 * Allowed growth of the facilitator's memory during an attack. Garbage took up to 100 MiB on a busy machine. A facilitator
 * that keeps what the attackers send, or what they refuse to read, grows by far more.
 */
export const growthKiBMax = 160 * 1024

export const facilitatorKiB = ({ pids }: Pick<LocalNetwork, 'pids'>): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', `${pids.facilitator}`], { encoding: 'utf8' }))
