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

/** `ownBytes` is resident memory without mapped files, which the system takes back when it needs to. */
export function residentMemory(pid: number): { rssBytes?: number; rssPeakBytes?: number; ownBytes?: number } {
  const status = readProc(pid, 'status')
  const bytesOf = (field: string) => {
    const kibibytes = status && new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
  }
  const rssBytes = bytesOf('VmRSS')
  const rssPeakBytes = bytesOf('VmHWM')
  const ownBytes = bytesOf('RssAnon')
  return {
    ...(rssBytes !== undefined && { rssBytes }),
    ...(rssPeakBytes !== undefined && { rssPeakBytes }),
    ...(ownBytes !== undefined && { ownBytes }),
  }
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
