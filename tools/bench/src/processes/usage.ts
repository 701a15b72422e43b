/** Resource usage of a process, from /proc. Undefined on systems without it. */
import { readFileSync } from 'node:fs'

/** The unit of times in /proc/<pid>/stat, fixed by the kernel's interface. */
const clockTickMs = 10

/** Processor time used so far, of all its threads. */
export function cpuMs(pid: number): number | undefined {
  const text = readProc(pid, 'stat')
  // The second field is a name in parentheses that may contain spaces, so fields are counted after it.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields && (Number(fields[11]) + Number(fields[12])) * clockTickMs
}

/** The most resident memory so far. */
export function peakBytes(pid: number): number | undefined {
  const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readProc(pid, 'status') ?? '')?.[1]
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
}

/** Running child processes. */
export function childrenOf(pid: number): number[] {
  const text = readProc(pid, `task/${pid}/children`) ?? ''
  return text.split(' ').filter(Boolean).map(Number)
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}
