/** The commands of docs/guides/pay-from-an-agent.md, run as they stand there, with the output that the page shows. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { developmentRoles } from '@svc-zerc20/devnet'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import { startPaywall } from '../../test/paywall.js'

const page = fileURLToPath(new URL('../../../../docs/guides/pay-from-an-agent.md', import.meta.url))
const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const shopUrl = 'http://127.0.0.1:4021/cheap'

let net: TestNetwork
let folder: string
let seller: Awaited<ReturnType<typeof startPaywall>>
beforeAll(async () => {
  net = await startNetwork()
  seller = await startPaywall(net)
  folder = await mkdtemp(join(tmpdir(), 'svc-pay-guide-'))
  await mkdir(join(folder, '.devnet'))
  const { privateKey } = developmentRoles.payer
  const network = { token: net.token, accounts: { payer: { privateKey } } }
  await writeFile(join(folder, '.devnet', 'network.json'), JSON.stringify(network))
})
afterAll(async () => {
  await seller.close()
  await net.close()
  await rm(folder, { recursive: true, force: true })
})

/** Addresses, hashes, the shop and what it sells differ from run to run. */
const comparable = (text: string) =>
  text
    .replace(/0x[0-9a-f]{40,64}/g, '0x…')
    .replace(/^(\{"thought".*\}|the resource)$/gm, '(what was bought)')
    .trim()

async function runShell(script: string): Promise<string> {
  const { PATH } = process.env
  const env = { PATH, HOME: folder, SVC_STATE_DIR: join(folder, 'state'), SVC_RPC_URL: net.rpcUrl }
  const shell = spawn('bash', ['-c', script], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (part) => {
      text += part
    })
  }
  await once(shell, 'close')
  return text
}

it('the guide for agents shows commands that work, with the output that they print', async () => {
  const guide = await readFile(page, 'utf8')
  const blocks = [...guide.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, kind, text = '']) => ({
    kind,
    text,
  }))
  const here = (text: string) =>
    text.replaceAll('npm run -s pay --', `"${process.execPath}" "${main}"`).replaceAll(shopUrl, seller.url)
  const exported = blocks.filter(({ text }) => text.startsWith('export ')).map(({ text }) => text)
  expect(exported).toHaveLength(1)
  const shown = blocks.flatMap((block, place) => {
    const output = blocks[place + 1]
    return block.kind === 'sh' && output?.kind === 'text'
      ? [{ command: block.text, output: output.text }]
      : []
  })
  expect(shown).toHaveLength(3)
  for (const { command, output } of shown) {
    expect(comparable(await runShell(here(exported.join('') + command)))).toBe(comparable(output))
  }
})
