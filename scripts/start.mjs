// `npm start`: installs and builds what is missing, starts the devnet, makes one payment of each kind and stays up.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { start } from './children.mjs'
import { root, setup } from './setup.mjs'

const help = `Usage: npm start -- [options]

Starts a local network, buys one resource of each kind from its shop, follows both payments to finalized and stays up.

Options of npm start:
  --once             end after the two payments
  -h, --help         show this help

All other options go to svc-devnet:
`

const args = process.argv.slice(2)
const once = args.includes('--once')
const wantsHelp = args.includes('--help') || args.includes('-h')
const devnetArgs = args.filter((arg) => arg !== '--once')

await setup()
if (wantsHelp) process.stdout.write(help)
const { child: devnet, ended } = start(
  process.execPath,
  [join(root, 'packages/devnet/dist/main.js'), ...devnetArgs],
  // In its own process group, so that a signal of the terminal reaches it only through this script, and once.
  { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], detached: true },
)

const networkFile = await Promise.race([readyFile(), ended.then(() => undefined)])
if (networkFile === undefined) process.exit(await ended)

const tour = start(process.execPath, [join(root, 'examples/dist/tour.js'), networkFile], {
  cwd: root,
  stdio: 'inherit',
})
const tourCode = await tour.ended
if (once || tourCode !== 0) {
  devnet.kill('SIGTERM')
  await ended
  process.exit(tourCode)
}
explain(JSON.parse(readFileSync(networkFile, 'utf8')), networkFile)
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

function explain({ rpcUrl, shopUrl, facilitatorUrl, controlUrl, accounts, routes }, file) {
  process.stdout.write(`
The network stays up until you press Ctrl-C. Pay by hand in another terminal:

  SVC_PAYER_PK=${accounts.payer.privateKey} \\
  SVC_RPC_URL=${rpcUrl} node examples/dist/buyer.js ${shopUrl}${routes.cheap.path}

  curl -i ${shopUrl}${routes.cheap.path}          the 402 and its PAYMENT-REQUIRED header
  curl ${facilitatorUrl}/supported       what the facilitator takes
  curl -X POST ${controlUrl}/faucet -H 'content-type: application/json' -d '{"address":"0x…"}'

Everything else is in ${file}. The keys are public development keys: never use them elsewhere.
`)
}
