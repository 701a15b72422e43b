// Compiles contracts/src and writes contracts/generated. `--help` lists what else it does.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { contractsDir } from './compiler.mjs'
import { generatedFiles } from './generated-files.mjs'

const usage = `node contracts/build.mjs               write what changed of contracts/generated
node contracts/build.mjs --check       fail when it is not what contracts/src compiles to
node contracts/build.mjs --snapshots   measure gas and sign the typed-data vectors again, and store them
`

const generatedDir = join(contractsDir, 'generated')
const snapshotTests = ['contracts/test/gas.test.ts', 'contracts/test/typed-data.test.ts']

/** Names of the files in generated/ that differ from a fresh compilation. */
export function driftedFiles(fresh = generatedFiles()) {
  mkdirSync(generatedDir, { recursive: true })
  const present = readdirSync(generatedDir)
  const changed = [...fresh].filter(
    ([name, content]) =>
      !present.includes(name) || readFileSync(join(generatedDir, name), 'utf8') !== content,
  )
  return [...changed.map(([name]) => name), ...present.filter((name) => !fresh.has(name))]
}

function write() {
  const fresh = generatedFiles()
  for (const name of driftedFiles(fresh)) {
    const content = fresh.get(name)
    if (content === undefined) rmSync(join(generatedDir, name))
    else writeFileSync(join(generatedDir, name), content)
    process.stdout.write(`${content === undefined ? 'removed' : 'wrote'} contracts/generated/${name}\n`)
  }
}

function check() {
  const drifted = driftedFiles()
  for (const name of drifted) process.stderr.write(`contracts/generated/${name} is out of date\n`)
  if (drifted.length > 0) process.exitCode = 1
}

function updateSnapshots() {
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...snapshotTests], {
    cwd: dirname(contractsDir),
    stdio: 'inherit',
    env: { ...process.env, UPDATE_SNAPSHOTS: '1' },
  })
  process.exitCode = status ?? 1
}

if (process.argv[1] === join(contractsDir, 'build.mjs')) {
  const { answerHelp } = await import('../scripts/help.mjs')
  answerHelp(usage)
  // A first `npm start` installs no compiler of contracts.
  const { setup } = await import('../scripts/setup.mjs')
  await setup({ keys: false, tools: true })
  if (process.argv.includes('--check')) check()
  else if (process.argv.includes('--snapshots')) updateSnapshots()
  else write()
}
