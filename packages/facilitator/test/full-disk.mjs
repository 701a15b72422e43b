// A disk on which the journal has only as much room as a file says. Given to the daemon with `--import`, for its threads, too.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

const { existsSync, readFileSync, writeSync } = fs
const roomFile = process.env.FULL_DISK_ROOM

// Only the journal is written at positions of a file.
fs.writeSync = (file, content, offset, length, position) => {
  if (typeof position === 'number' && roomFile && existsSync(roomFile)) {
    const room = Number(readFileSync(roomFile, 'utf8'))
    if (position + length > room)
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  }
  return writeSync(file, content, offset, length, position)
}

const { Worker } = threads
threads.Worker = class extends Worker {
  constructor(file, options) {
    super(file, {
      ...options,
      execArgv: ['--import', import.meta.url],
      env: { ...options?.env, FULL_DISK_ROOM: roomFile },
    })
  }
}
syncBuiltinESMExports()
