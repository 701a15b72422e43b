// `npm start`: installs and builds what is missing, starts the devnet, makes one payment of each kind and stays up.
// `npm start -- --once` stops after the payments. Other arguments go to svc-devnet (see `npm run devnet -- --help`).
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, setup } from './setup.mjs'

const once = process.argv.includes('--once')
const devnetArgs = process.argv.slice(2).filter((arg) => arg !== '--once')

setup()
const devnet = spawn(process.execPath, [join(root, 'packages/devnet/dist/main.js'), ...devnetArgs], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = new Promise((resolve) => devnet.once('exit', (code) => resolve(code ?? 1)))
// The terminal signals the whole group; a supervisor only us.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => devnet.kill(signal))

const networkFile = await Promise.race([readyFile(), ended.then(() => undefined)])
if (networkFile === undefined) process.exit(await ended)

const tourCode = await runTour(networkFile)
if (once || tourCode !== 0) {
  devnet.kill('SIGTERM')
  await ended
  process.exit(tourCode)
}
explain(JSON.parse(readFileSync(networkFile, 'utf8')))
process.exit(await ended)

function readyFile() {
  return new Promise((resolve) => {
    let text = ''
    devnet.stdout.on('data', (chunk) => {
      process.stdout.write(chunk)
      text += chunk
      const found = /^ready: (.+)$/m.exec(text)
      if (found) resolve(found[1])
    })
  })
}

function runTour(file) {
  const tour = spawn(process.execPath, [join(root, 'examples/dist/tour.js'), file], {
    cwd: root,
    stdio: 'inherit',
  })
  return new Promise((resolve) => tour.once('exit', (code) => resolve(code ?? 1)))
}

function explain({ rpcUrl, shopUrl, facilitatorUrl, controlUrl, accounts, routes }) {
  process.stdout.write(`
The network stays up until you press Ctrl-C. Pay by hand in another terminal:

  SVC_PAYER_PK=${accounts.payer.privateKey} \\
  SVC_RPC_URL=${rpcUrl} node examples/dist/buyer.js ${shopUrl}${routes.cheap.path}

  curl -i ${shopUrl}${routes.cheap.path}          the 402 and its PAYMENT-REQUIRED header
  curl ${facilitatorUrl}/supported       what the facilitator takes
  curl -X POST ${controlUrl}/faucet -H 'content-type: application/json' -d '{"address":"0x…"}'

Everything else is in .devnet/network.json. The keys are public development keys: never use them elsewhere.
`)
}
