import { readFileSync } from 'node:fs'

/** Resident memory of a process, as Linux tells it; empty on systems without /proc. */
export function residentMemory(pid: number): { rssBytes?: number; rssPeakBytes?: number } {
  let status: string
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return {}
  }
  const bytesOf = (field: string) => {
    const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
  }
  const rssBytes = bytesOf('VmRSS')
  const rssPeakBytes = bytesOf('VmHWM')
  return {
    ...(rssBytes !== undefined && { rssBytes }),
    ...(rssPeakBytes !== undefined && { rssPeakBytes }),
  }
}
