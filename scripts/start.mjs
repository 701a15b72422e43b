// `npm start`: installs and builds what is missing, starts the devnet, makes one payment of each kind and stays up.
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
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
// The history has a page in the browser.
const devnetArgs = ['--history', ...args.filter((arg) => arg !== '--once')]

// Answered from the reference, because nothing may be installed yet.
if (args.includes('--help') || args.includes('-h')) {
  const page = readFileSync(join(root, 'docs/reference/svc-devnet.md'), 'utf8')
  process.stdout.write(`${help}\n${/```text\n([\s\S]*?)```/.exec(page)[1]}`)
  process.exit(0)
}

await setup()
if (args.includes('--postgres')) {
  // What is built by now finds the server.
  const { ensurePostgres } = await import('./postgres.mjs')
  ensurePostgres('Two facilitators on one database')
}
const { child: devnet, ended } = start(
  process.execPath,
  [join(root, 'packages/devnet/dist/main.js'), ...devnetArgs],
  // In its own process group, so that a signal of the terminal reaches it only through this script, and once.
  { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], detached: true },
)

const networkFile = await Promise.race([readyFile(), ended.then(() => undefined)])
if (networkFile === undefined) process.exit(await ended)

const network = JSON.parse(readFileSync(networkFile, 'utf8'))
if (!once) inviteTo(network)
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
explain(network)
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

function inviteTo({ storefrontUrl }) {
  if (!storefrontUrl) return
  process.stdout.write(`
Open the shop in a browser. It has a wallet with test money in it, and shows what happens to a payment:

  ${storefrontUrl}/

Meanwhile, a tour: two purchases by programs.
`)
}

function explain({ routes, storefrontUrl }) {
  const folder = relative(root, dirname(networkFile))
  process.stdout.write(`
${
  storefrontUrl
    ? `The shop for a browser: ${storefrontUrl}/
`
    : ''
}The network stays up until you press Ctrl-C. In another terminal, in this folder:

  set -a; . ${folder}/env; set +a      keys, limits, URLs and commands of this network
  svc-pay pay $SHOP_URL${routes.cheap.path}         buys, within the limits
  svc-pay doctor                      says what would prevent a payment
  curl -i $SHOP_URL${routes.cheap.path}             the 402 and its PAYMENT-REQUIRED header
  curl -X POST $FAUCET_URL -H 'content-type: application/json' -d '{"address":"0x…"}'

Sell something of your own: the README shows how. Programs find everything in ${folder}/network.json.
The keys are public development keys: never use them elsewhere.
`)
}
