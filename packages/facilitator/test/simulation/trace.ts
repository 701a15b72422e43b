/** The events of a run, in order: its fingerprint tells two runs apart, and its last lines explain a failure. */

const linesKept = 400

export function createTrace(now: () => number, isTold: (line: string) => void) {
  const startedMs = now()
  const lines: string[] = []
  let hash = 0x811c9dc5
  return {
    lines,
    tell(what: string): void {
      const line = `${((now() - startedMs) / 1000).toFixed(3)} ${what}`
      for (let i = 0; i < line.length; i++) hash = Math.imul(hash ^ line.charCodeAt(i), 0x01000193)
      lines.push(line)
      if (lines.length > linesKept) lines.shift()
      isTold(line)
    },
    fingerprint: () => (hash >>> 0).toString(16),
  }
}
