/** The file layer below the journal: a test sees every call that changes or syncs a file, and may refuse it. */
import fs, { type PathLike } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { onTestFinished } from 'vitest'

export type FileCall = {
  readonly name: 'open' | 'write' | 'truncate' | 'sync' | 'rename'
  /** The file or folder; of a rename, the new name. */
  readonly path: string
}

/** Does the call; of a write, only so many bytes. */
type Act<T> = (bytes?: number) => T
type Around = <T>(call: FileCall, act: Act<T>) => T

const real = { ...fs }

/**
 * Hands calls on these paths, and on whatever begins with one of them, to `around`, until the test ends. SQLite makes its
 * calls itself, and is not seen here.
 */
export function aroundFileCalls(paths: readonly string[], around: Around): void {
  const open = new Map<number, string>()
  const isOurs = (path: PathLike) => paths.some((each) => `${path}`.startsWith(each))
  /** `around` may read files itself. */
  let isInside = false

  function hand<T>(call: FileCall, act: Act<T>): T {
    if (isInside) return act()
    isInside = true
    try {
      return around(call, act)
    } finally {
      isInside = false
    }
  }

  function through<T>(name: FileCall['name'], file: number, act: Act<T>): T {
    const path = open.get(file)
    return path === undefined ? act() : hand({ name, path }, act)
  }

  const hooked = {
    openSync(path: PathLike, flags: fs.OpenMode, mode?: fs.Mode) {
      const act = () => real.openSync(path, flags, mode)
      if (!isOurs(path)) return act()
      const file = hand({ name: 'open', path: `${path}` }, act)
      open.set(file, `${path}`)
      return file
    },
    closeSync(file: number) {
      open.delete(file)
      real.closeSync(file)
    },
    writeSync: (file: number, content: Buffer, offset: number, length: number, position: number) =>
      through('write', file, (bytes = length) => real.writeSync(file, content, offset, bytes, position)),
    ftruncateSync: (file: number, length: number) =>
      through('truncate', file, () => real.ftruncateSync(file, length)),
    fdatasyncSync: (file: number) => through('sync', file, () => real.fdatasyncSync(file)),
    fsyncSync: (file: number) => through('sync', file, () => real.fsyncSync(file)),
    renameSync(from: PathLike, to: PathLike) {
      const act = () => real.renameSync(from, to)
      if (!isOurs(to)) return act()
      for (const [file, path] of open) if (path === `${from}`) open.set(file, `${to}`)
      return hand({ name: 'rename', path: `${to}` }, act)
    },
  }
  Object.assign(fs, hooked)
  syncBuiltinESMExports()
  onTestFinished(() => {
    for (const name of Object.keys(hooked) as (keyof typeof hooked)[])
      Object.assign(fs, { [name]: real[name] })
    syncBuiltinESMExports()
  })
}
