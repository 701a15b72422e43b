// A slow disk, for the thread of a store: while a file says the number of a call, that call of the journal does not return.
// Given with `--import`.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { workerData } from 'node:worker_threads'

const { existsSync, readFileSync } = fs
const lateFile = `${workerData.path}.late`
const still = new Int32Array(new SharedArrayBuffer(4))
let calls = 0

function isLate() {
  try {
    return Number(readFileSync(lateFile, 'utf8')) === calls
  } catch {
    // The test has removed it: the disk is quick again.
    return false
  }
}

for (const name of ['writeSync', 'fdatasyncSync', 'fsyncSync', 'renameSync']) {
  const act = fs[name]
  fs[name] = (...args) => {
    calls = existsSync(lateFile) ? calls + 1 : 0
    while (isLate()) Atomics.wait(still, 0, 0, 5)
    return act(...args)
  }
}
syncBuiltinESMExports()
