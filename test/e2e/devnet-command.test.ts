/** `svc-devnet` and the tour of `npm start`, as the processes a user starts. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv, promisify } from 'node:util'
import { startChain } from '@svc-zerc20/devnet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { notRun } from '../pages/support/browser.js'
import { blocksOf, runShell } from '../support/guide-blocks.js'
import { until } from '../support/until.js'
import { runGuide } from './guide.js'
import { buyInBrowser, tryFromElsewhere } from './storefront.js'

const script = (path: string) => new URL(`../../${path}`, import.meta.url).pathname
const run = promisify(execFile)

describe('svc-devnet', () => {
  const directory = mkdtempSync(join(tmpdir(), 'svc-devnet-test-'))
  const networkFile = join(directory, 'network.json')
  let devnet: ChildProcess
  let exited: Promise<number | null>

  beforeAll(async () => {
    devnet = spawn(
      process.execPath,
      [script('packages/devnet/dist/main.js'), '--dir', directory, '--block-time', '0', '--history'],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    exited = new Promise((resolve) => devnet.once('exit', resolve))
    await new Promise<void>((resolve, reject) => {
      devnet.stdout?.on('data', (chunk: Buffer) => chunk.includes('ready: ') && resolve())
      void exited.then((code) => reject(new Error(`svc-devnet exited with ${code}`)))
    })
  })

  afterAll(async () => {
    devnet.kill('SIGTERM')
    await exited
    rmSync(directory, { recursive: true, force: true })
  })

  it('writes everything another tool needs to network.json', () => {
    const network = JSON.parse(readFileSync(networkFile, 'utf8'))
    const address = expect.stringMatching(/^0x[0-9a-fA-F]{40}$/)
    const url = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+/)
    const account = { address, privateKey: expect.stringMatching(/^0x[0-9a-f]{64}$/) }
    expect(network).toMatchObject({
      rpcUrl: url,
      chainId: 31337,
      token: address,
      helper: address,
      verifier: address,
      hub: address,
      facilitatorUrl: url,
      shopUrl: url,
      storefrontUrl: url,
      indexerUrl: url,
      deciderUrl: url,
      adminToken: expect.stringMatching(/^\w{32,}$/),
      configFile: join(directory, 'facilitator.toml'),
      accounts: { payer: account, treasury: account, relayer: account, provider: account },
      routes: { cheap: { path: '/cheap', price: '1000' }, dear: { path: '/dear', price: '250000' } },
    })
  })

  it('writes a file for the shell, with which the commands use this network and no other', async () => {
    const { rpcUrl, token, helper, shopUrl, controlUrl, facilitatorUrl } = JSON.parse(
      readFileSync(networkFile, 'utf8'),
    )
    const file = join(directory, 'env')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const variables = parseEnv(readFileSync(file, 'utf8'))
    expect(variables).toMatchObject({
      SVC_RPC_URL: rpcUrl,
      SVC_ALLOWED_TOKEN: token,
      SVC_ALLOWED_HELPER: helper,
      SVC_STATE_DIR: join(directory, 'payer'),
      FACILITATOR_URL: facilitatorUrl,
      SHOP_TOKEN: token,
      SHOP_URL: shopUrl,
      FAUCET_URL: `${controlUrl}/faucet`,
    })
    // A path with no command of ours, as a new terminal has it.
    const { stdout: printed } = await run('sh', ['-c', `set -a; . ${file}; set +a; svc-pay doctor`], {
      env: { PATH: '/usr/bin:/bin', HOME: directory },
      cwd: tmpdir(),
    })
    for (const command of ['svc-facilitator', 'svc-indexer'])
      expect((await run(join(directory, 'bin', command), ['--help'])).stdout).toContain(`Usage: ${command}`)
    expect(printed).toContain(`${rpcUrl} answers for eip155:31337`)
    expect(printed).not.toMatch(/^(?:fail|error|warn)/m)
  })

  it('says in its sample configuration that the per-key limits are raised', () => {
    const config = readFileSync(join(directory, 'facilitator.toml'), 'utf8')
    expect(config).toMatch(/per-key limits are raised/)
    expect(config).toMatch(/rate_limit_per_min = 0/)
  })

  it('R-114 sells by permit without gas and by self-transfer, and both payments are finalized, with a timeline', async () => {
    const { stdout } = await run(process.execPath, [script('examples/dist/tour.js'), networkFile])
    expect(stdout).toMatch(
      /Gasless permit: buying \/cheap[\s\S]*402: 0\.001 zUSD[\s\S]*accepted: burned in 0x/,
    )
    expect(stdout).toMatch(/the payer paid 0\.001 zUSD and no gas/)
    expect(stdout).toMatch(/Self-transfer: buying \/dear[\s\S]*accepted: burned in 0x/)
    expect(stdout).toMatch(/the payer paid 0\.25 zUSD and 0\.\d+ ETH of gas/)
    expect(stdout).toMatch(/root over \d+ transfers proved on chain/)
    expect(stdout).toMatch(
      /the permit payment: proof done, sending the mint[\s\S]*the permit payment: finalized/,
    )
    expect(stdout).toMatch(
      /the self-transfer: proof done, sending the mint[\s\S]*the self-transfer: finalized/,
    )
    expect(stdout).toMatch(/the provider has 0\.251 zUSD more, minted/)
    expect(stdout).toMatch(/Private\? Not these two/)
    // One line must not promise what the next one takes back.
    expect(stdout).not.toMatch(/nothing on the chain links/)
  })

  it('R-125 the guide for accountants shows commands that work, and books that equal the chain', async () => {
    const runs = await runGuide('for-accountants.md', networkFile)
    expect(runs).toHaveLength(4)
    for (const { shown, printed } of runs) expect(printed).toBe(shown)
  })

  it('R-143 the guide for operators of a history gets a statement with a token, which an auditor finds valid', async () => {
    const runs = await runGuide('payment-history.md', networkFile)
    // The other blocks of the guide are for a machine of its own.
    expect(runs).toHaveLength(1)
    for (const { shown, printed } of runs) expect(printed).toBe(shown)
  })

  it('R-125 the guide for accountants explains every column that there is', async () => {
    const { facilitatorUrl, configFile, historyEnvFile } = JSON.parse(readFileSync(networkFile, 'utf8'))
    const env = parseEnv(readFileSync(historyEnvFile, 'utf8'))
    const command = [script('packages/facilitator/bin/svc-facilitator.mjs'), 'history', 'token', '--role']
    const columnsOf = async (role: string) => {
      const { stdout } = await run(process.execPath, [...command, role, '--config', configFile], { env })
      const headers = { authorization: `Bearer ${stdout.trim()}` }
      const answer = await fetch(`${facilitatorUrl}/history/export?format=csv`, { headers })
      return (await answer.text()).split('\r\n')[0]?.split(',') ?? []
    }
    const guide = readFileSync(script('docs/guides/for-accountants.md'), 'utf8')
    const cells = [...guide.matchAll(/^\| (`.*?) \| (.*) \|$/gm)]
    const explained = cells.flatMap(([, names = '', text = '']) =>
      [...names.matchAll(/`(\w+)`/g)].map(([, name]) => ({
        name,
        isOnlyOfProvider: /^\*provider:/.test(text),
      })),
    )
    const [ofProvider, ofPayer] = [await columnsOf('provider'), await columnsOf('payer')]
    expect(explained.map(({ name }) => name).sort()).toEqual([...ofProvider].sort())
    const ofBoth = explained.filter(({ isOnlyOfProvider }) => !isOnlyOfProvider)
    expect(ofBoth.map(({ name }) => name).sort()).toEqual([...ofPayer].sort())
  })

  it('an export that was changed does not pass for the chain', async () => {
    const { rpcUrl, token, accounts } = JSON.parse(readFileSync(networkFile, 'utf8'))
    const file = join(directory, 'forged.json')
    const mint = { transaction: `0x${'ab'.repeat(32)}`, value: '5' }
    writeFileSync(file, JSON.stringify({ token, payments: [{ treasury: accounts.treasury.address, mint }] }))
    const compared = run(process.execPath, [script('examples/dist/reconcile.js'), file, rpcUrl])
    await expect(compared).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/differs: 0x(?:ab){32} has 5 in the history, 0 on the chain/),
    })
  })

  it('the guide for agents shows commands that work, with the output that they print', async () => {
    const runs = await runGuide('pay-from-an-agent.md', networkFile)
    expect(runs).toHaveLength(3)
    for (const { shown, printed } of runs) expect(printed).toBe(shown)
  })

  it('the README shows commands that work in a second terminal', async () => {
    const blocks = blocksOf('README.md').filter(({ kind }) => kind === 'sh')
    // The others need a folder of their own; the tests of the packages run them.
    const here = blocks.map(({ text }) => text).filter((text) => /\.devnet\//.test(text))
    expect(here).toHaveLength(2)
    const printed = await runShell(here.join('').replaceAll('.devnet/', `${directory}/`), directory)
    expect(printed).toMatch(/paid 0\.001 zUSD, burned in 0x/)
    expect(printed).toMatch(/^ready +yes$/m)
    expect(printed).toMatch(/^\[settlement\]$/m)
    expect(printed).not.toMatch(/^error/m)
  })

  // After the guides, which show the books of the tour alone.
  it('gives the development wallet to pages of the storefront, and to nobody else', () =>
    tryFromElsewhere(networkFile))

  it.skipIf(notRun !== '')(
    `sells in a browser, and shows the payment on its way until it is minted${notRun}`,
    () => buyInBrowser(networkFile, process.env.SVC_PICTURES),
  )

  it('gives tokens away at its faucet', async () => {
    const { controlUrl, accounts } = JSON.parse(readFileSync(networkFile, 'utf8'))
    const response = await fetch(`${controlUrl}/faucet`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ address: accounts.provider.address, amount: '5', wei: '0' }),
    })
    expect(await response.json()).toMatchObject({
      amount: '5',
      tokenTransaction: expect.stringMatching(/^0x/),
    })
  })

  it('names the account as treasury that payments are minted to', () => {
    const { accounts } = JSON.parse(readFileSync(networkFile, 'utf8'))
    const config = readFileSync(join(directory, 'facilitator.toml'), 'utf8')
    expect(/^treasury = "(0x\w+)"$/m.exec(config)?.[1]).toBe(accounts.treasury.address)
  })

  it('refuses a second network in its folder and leaves the first one as it is', async () => {
    const names = ['network.json', 'facilitator.toml', 'journal.jsonl', 'indexer']
    const state = () => names.map((name) => statSync(join(directory, name)).ino)
    const before = state()
    const second = run(process.execPath, [script('packages/devnet/dist/main.js'), '--dir', directory])
    await expect(second).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is in use by another local network \(process \d+\); stop that one, or/),
    })
    expect(state()).toEqual(before)
    const { facilitatorUrl } = JSON.parse(readFileSync(networkFile, 'utf8'))
    expect((await fetch(`${facilitatorUrl}/health`)).status).toBe(200)
  })

  it('stops on SIGTERM with exit code 0, its daemons first, and removes the files that describe it', async () => {
    const { shopUrl, facilitatorUrl } = JSON.parse(readFileSync(networkFile, 'utf8'))
    devnet.kill('SIGTERM')
    expect(await exited).toBe(0)
    for (const name of ['network.json', 'env']) expect(existsSync(join(directory, name))).toBe(false)
    await expect(fetch(facilitatorUrl)).rejects.toThrow()
    await expect(fetch(shopUrl)).rejects.toThrow()
  })
})

describe('npm start', () => {
  /** Processes with this folder in their command line. */
  const processesIn = (directory: string) =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => readIfThere(`/proc/${pid}/cmdline`).includes(directory))
  const readIfThere = (path: string) => {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      return ''
    }
  }

  // By processes of Linux.
  it.runIf(process.platform === 'linux').each([
    ['while it starts', /^token deployed/m],
    [
      'when everything runs, and its link to the shop is above the tour',
      /^ready: (?![\s\S]*Gasless)[\s\S]*Open the shop/m,
    ],
  ])('ends all that it started on a SIGTERM %s', async (_when, line) => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-start-test-'))
    const ports = ['--chain-port', '0', '--facilitator-port', '0', '--shop-port', '0']
    const args = ['start', '--', '--dir', directory, '--block-time', '0', '--no-finalization', ...ports]
    const npm = spawn('npm', args, { cwd: script(''), stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = new Promise((resolve) => npm.once('exit', resolve))
    try {
      await new Promise<void>((resolve, reject) => {
        let text = ''
        npm.stdout.on('data', (chunk: Buffer) => {
          text += chunk
          if (line.test(text)) resolve()
        })
        void exited.then((code) => reject(new Error(`npm start ended with ${code}: ${text}`)))
      })
      expect(processesIn(directory).length).toBeGreaterThan(1)
      npm.kill('SIGTERM')
      await exited
      await until(() => processesIn(directory).length === 0)
    } finally {
      for (const pid of processesIn(directory)) process.kill(Number(pid), 'SIGKILL')
      rmSync(directory, { recursive: true, force: true })
    }
  })

  it('tells of --once and of the options of the network in its help, before anything is installed', async () => {
    const clone = mkdtempSync(join(tmpdir(), 'svc-clone-'))
    try {
      for (const path of ['scripts', 'docs/reference', 'package.json', 'package-lock.json'])
        cpSync(script(path), join(clone, path), { recursive: true })
      const { stdout, stderr } = await run('npm', ['start', '--silent', '--', '--help'], { cwd: clone })
      expect(stdout).toMatch(/--once/)
      expect(stdout).toMatch(/--chain-port/)
      expect(stderr).not.toMatch(/nstalling/)
      expect(readdirSync(clone)).not.toContain('node_modules')
    } finally {
      rmSync(clone, { recursive: true, force: true })
    }
  })
})

describe('the commands of this tree', () => {
  it('has its binaries linked before anything is built', () => {
    for (const name of ['facilitator', 'indexer', 'devnet']) {
      const { bin } = JSON.parse(readFileSync(script(`packages/${name}/package.json`), 'utf8'))
      const path = `packages/${name}/${bin[`svc-${name}`]}`
      expect(path).not.toContain('/dist/')
      expect(existsSync(script(path))).toBe(true)
    }
  })
})

describe('svc-devnet --rpc-url', () => {
  it('deploys to a node that runs already, and sells there', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-devnet-test-'))
    let chain = await startChain()
    const args = [
      script('packages/devnet/dist/main.js'),
      '--dir',
      directory,
      '--rpc-url',
      chain.rpcUrl,
      '--no-finalization',
      ...['--fee', 'payer', '--split'],
    ]
    let stop: () => Promise<unknown> = async () => undefined
    async function start(): Promise<void> {
      const devnet = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      const exited = new Promise((resolve) => devnet.once('exit', resolve))
      stop = () => {
        devnet.kill('SIGTERM')
        return exited
      }
      await new Promise<void>((resolve, reject) => {
        devnet.stdout.on('data', (chunk: Buffer) => chunk.includes('ready: ') && resolve())
        void exited.then((code) => reject(new Error(`svc-devnet exited with ${code}`)))
      })
    }
    try {
      await start()
      const networkFile = join(directory, 'network.json')
      const network = JSON.parse(readFileSync(networkFile, 'utf8'))
      expect(network.rpcUrl).toBe(chain.rpcUrl)
      const config = readFileSync(join(directory, 'facilitator.toml'), 'utf8')
      expect(/^treasury = "(0x\w+)"$/m.exec(config)?.[1]).toBe(network.splitter)
      const { stdout } = await run(process.execPath, [script('examples/dist/tour.js'), networkFile])
      expect(stdout.match(/accepted: burned in 0x/g)).toHaveLength(2)
      expect(stdout).toMatch(/402: 0\.001025 zUSD, of it 0\.000025 zUSD fee, to the one-time address/)
      expect(stdout).toMatch(/the payer paid 0\.25625 zUSD and 0\.\d+ ETH of gas/)
      // Again in the same folder: first with the contracts that are there, then on a node that began anew.
      await stop()
      await start()
      expect(JSON.parse(readFileSync(networkFile, 'utf8')).token).toBe(network.token)
      await stop()
      const port = Number(new URL(chain.rpcUrl).port)
      await chain.close()
      chain = await startChain({ port })
      await start()
      expect((await run(process.execPath, [script('examples/dist/tour.js'), networkFile])).stdout).toMatch(
        /accepted: burned in 0x/,
      )
    } finally {
      await stop()
      await chain.close()
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
