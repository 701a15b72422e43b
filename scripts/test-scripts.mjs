// `npm run test:scripts`: every npm script in a clone in which only `npm start -- --once` ran. That one installs what a network
// needs and none of the tools, so a script that leans on more than it installs fails here alone. Takes the last commit.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from './children.mjs'
import { answerHelp } from './help.mjs'
import { root, run } from './setup.mjs'

answerHelp(`Usage: npm run test:scripts -- [NAMES]

Clones the last commit, runs \`npm start -- --once\` there, and then every other npm script, or those that are named.
`)

/**
 * The shortest real use of each script, and what it prints then. One that stays up is ended by a signal as soon as it has printed
 * that. Those that lack an address say so, and end with 1.
 */
const uses = {
  pay: { args: ['--help'], prints: /^Usage: svc-pay/m },
  facilitator: { args: ['check', '--config', 'none.toml'], prints: /none\.toml/, code: 1 },
  indexer: { args: [], prints: /rpc-url/, code: 1 },
  devnet: { args: ['--no-finalization'], prints: /^ready: /m, staysUp: true },
  privacy: { args: ['--payments', '20', '--batch-wait-seconds', '600'], prints: /^A batch links/m },
  ceremony: { args: ['--help'], prints: /ceremony/ },
  circuits: { args: [], prints: /circuits/ },
  pack: { args: [], prints: /npm install/ },
  'bench:finalize': { args: ['--help'], prints: /^Usage: npm run bench:finalize/m },
  bench: { args: ['--quick'], prints: /latest\.json/ },
  gen: { args: [] },
  build: { args: [] },
  format: { args: [] },
  check: { args: [] },
  'test:unit': { args: ['packages/protocol'], prints: /passed/ },
}
/** `npm start` has run by then, and what runs tests does so in one way. */
const others = /^(?:start|test(?!:unit$).*)$/

const scripts = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts)
const untold = scripts.filter((name) => !(name in uses) && !others.test(name))
if (untold.length > 0) throw new Error(`no use of ${untold.join(', ')} is told here`)
const wanted = process.argv.slice(2)

const folder = mkdtempSync(join(tmpdir(), 'svc-scripts-'))
const clone = join(folder, 'svc-zerc20')
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
// A script that finds the tools of another clone on the PATH would prove nothing.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))
env.PATH = env.PATH?.split(':')
  .filter((place) => !place.includes('node_modules'))
  .join(':')

async function use(title, command, args, { prints, code = 0, staysUp = false }) {
  const beganMs = Date.now()
  const { child, ended } = start(command, args, { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  const hear = (chunk) => {
    text += chunk
    if (staysUp && prints.test(text)) child.kill('SIGTERM')
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const closed = new Promise((resolve) => child.once('close', resolve))
  const ending = await ended
  await closed
  const isRight = (staysUp || ending === code) && (prints?.test(text) ?? true)
  const took = `${Math.round((Date.now() - beganMs) / 1_000)} s`
  process.stdout.write(`${isRight ? 'ok    ' : 'FAILED'}  ${title} (${took})\n`)
  if (!isRight) process.stdout.write(`${text}\nended with ${ending}\n`)
  return isRight
}

await run('git', ['clone', '--quiet', root, clone])
let failed = (await use('npm start -- --once', 'npm', ['start', '--', '--once'], {})) ? 0 : 1
for (const [script, { args, ...expected }] of Object.entries(uses)) {
  if (wanted.length > 0 && !wanted.includes(script)) continue
  const words = ['run', script, ...(args.length > 0 ? ['--', ...args] : [])]
  if (!(await use(`npm ${words.join(' ')}`, 'npm', words, expected))) failed += 1
}
if (wanted.length === 0) {
  const compile = ['contracts/build.mjs']
  if (!(await use('node contracts/build.mjs', process.execPath, compile, {}))) failed += 1
  // What is generated and compiled is what was committed.
  if (!(await use('nothing has changed', 'git', ['diff', '--exit-code'], {}))) failed += 1
}
process.exit(failed > 0 ? 1 : 0)
