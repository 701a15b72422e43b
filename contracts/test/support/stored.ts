import { readFileSync, writeFileSync } from 'node:fs'

/**
 * The committed value of a snapshot file. When snapshots are being updated (`node contracts/build.mjs --snapshots`),
 * the file first takes the fresh value.
 */
export function stored<Value>(file: URL, fresh: Value): Value {
  if (process.env.UPDATE_SNAPSHOTS === '1') writeFileSync(file, `${JSON.stringify(fresh, null, 2)}\n`)
  return JSON.parse(readFileSync(file, 'utf8')) as Value
}
