/** The commands of this clone under their own names, for a shell that has the folder on its PATH. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = { payer: 'svc-pay', facilitator: 'svc-facilitator', indexer: 'svc-indexer' } as const

/** Writes them, each run by the Node that runs this, and returns their folder. */
export function writeCommands(directory: string): string {
  const folder = join(directory, 'bin')
  mkdirSync(folder, { recursive: true })
  for (const [name, command] of Object.entries(packages)) {
    const script = fileURLToPath(new URL(`../../../${name}/bin/${command}.mjs`, import.meta.url))
    writeFileSync(join(folder, command), `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`, {
      mode: 0o755,
    })
  }
  return folder
}
