/**
 * The tarballs of `npm run pack`: what the tools of package authors say to them, and whether a stranger can install and use
 * them. With the Node at hand and in one folder; `npm run test:packages` takes the oldest Node that we support and newer
 * ones, and a folder for each role.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { developmentRoles, type LocalNetwork, startLocalNetwork } from '@svc-zerc20/devnet'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installWords, manifestOf, pack, publicFolders } from '../../scripts/packages.mjs'
import { readText, root } from '../../scripts/source-files.js'
import { blocksOf } from '../support/guide-blocks.js'
import {
  createStranger,
  hasFolderPerRole,
  hostNode,
  neededBy,
  nodes,
  packageBytes,
  type Stranger,
} from './stranger.js'

const folder = mkdtempSync(join(tmpdir(), 'svc-packed-'))
const packed = pack(folder)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** For packages that are only ES modules, as `--profile esm-only` of the command: other resolutions do not count. */
const counted = ['node16-esm', 'bundler']

describe.each(packed)('the tarball of $name', ({ name, file, paths }) => {
  const manifest = publicFolders()
    .map(manifestOf)
    .find((found) => found.name === name)
  const unpacked = () => createPackageFromTarballData(new Uint8Array(readFileSync(file)))

  it('has readme, licence, types and program, and no sources, tests or maps', () => {
    expect(paths).toEqual(
      expect.arrayContaining(['README.md', 'LICENSE', 'package.json', 'dist/index.js', 'dist/index.d.ts']),
    )
    for (const command of Object.values(manifest?.bin ?? {})) expect(paths).toContain(command)
    const strange = paths.filter(
      (path) =>
        !/^(?:dist\/.*\.(?:js|d\.ts)|(?:bundle|built)\/(?:[\w-]+\.(?:js|d\.ts)|LICENSES\.txt)|bin\/.*\.mjs|src\/.*\.sol|[\w.]+)$/.test(
          path,
        ),
    )
    expect([...strange, ...paths.filter((path) => /\.test\.|\.map$|tsbuildinfo/.test(path))]).toEqual([])
  })

  it('has the licence of the repository', () => {
    expect(unpacked().readFile(`/node_modules/${name}/LICENSE`)).toBe(readText('LICENSE'))
  })

  it('has nothing that publint objects to', async () => {
    const tarball = readFileSync(file)
    const { messages, pkg } = await publint({ pack: { tarball: arrayBuffer(tarball) }, strict: true })
    expect(messages.map((message) => formatMessage(message, pkg ?? {}))).toEqual([])
  })

  it('has types that resolve', async () => {
    const checked = await checkPackage(unpacked())
    expect(checked.types).toBeTruthy()
    const problems = 'problems' in checked ? checked.problems : []
    expect(
      problems.filter(
        (problem) => !('resolutionKind' in problem) || counted.includes(problem.resolutionKind),
      ),
    ).toEqual([])
  })
})

it('public packages need only each other, in the same version, and ranges of others', () => {
  const names = publicFolders().map((path) => manifestOf(path).name)
  for (const { name, version, dependencies = {}, scripts } of publicFolders().map(manifestOf)) {
    expect(scripts, name).toBeUndefined()
    for (const [needed, range] of Object.entries(dependencies)) {
      if (needed.startsWith('@svc-zerc20/')) {
        expect(names, name).toContain(needed)
        expect(range, name).toBe(version)
      } else expect(range, `${name} needs ${needed}`).toMatch(/^\^\d/)
    }
  }
})

describe('installed as npm run pack says', () => {
  const { payer, treasury, relayer } = developmentRoles
  let net: LocalNetwork
  let seller: Stranger
  let buyer: Stranger
  let operator: Stranger
  beforeAll(async () => {
    ;[net, [seller, buyer, operator]] = await Promise.all([startLocalNetwork(), install()])
    seller.add(join(root, 'examples/dist/shop.js'), 'shop.js')
    buyer.add(join(root, 'examples/dist/buyer.js'), 'buyer.js')
  })
  afterAll(async () => {
    await net?.close()
    for (const stranger of [seller, buyer, operator]) stranger?.remove()
  })

  it('the payer brings no daemon, and at most 5 MB beside viem and the official core', () => {
    const all = neededBy(buyer.folder, '@svc-zerc20/payer')
    const names = [...all].map((folder) => folder.slice(folder.lastIndexOf('node_modules/') + 13))
    expect(names).toEqual(expect.arrayContaining(['viem', '@x402/core', '@svc-zerc20/protocol']))
    const daemons = /^(?:fastify|pino|libsql|@svc-zerc20\/(?:facilitator|indexer|daemon|prover|zk|kernel))$/
    expect(names.filter((name) => daemons.test(name))).toEqual([])
    const given = new Set(['viem', '@x402/core'].flatMap((name) => [...neededBy(buyer.folder, name)]))
    const added = [...all].filter((folder) => !given.has(folder))
    const bytes = added.reduce((sum, folder) => sum + packageBytes(folder), 0)
    process.stdout.write(`the payer adds ${bytes} bytes in ${added.length} packages to viem and the core\n`)
    expect(bytes).toBeLessThan(5_000_000)
  })

  it('svc-pay mcp says which package it needs, and how to get it', async () => {
    const [node = hostNode] = nodes()
    const { code, stderr } = await buyer.run(node, ['npx', 'svc-pay', 'mcp'])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('npm install @modelcontextprotocol/sdk'),
    })
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  describe.each(nodes())('on Node $name', (node) => {
    let facilitator: Awaited<ReturnType<Stranger['start']>>
    let shop: Awaited<ReturnType<Stranger['start']>>
    const keys = { SVC_TREASURY_PK: treasury.privateKey, SVC_RELAYER_PK: relayer.privateKey }
    const wallet = () => ({
      SVC_PAYER_PK: payer.privateKey,
      SVC_RPC_URL: net.rpcUrl,
      SVC_ALLOWED_TOKEN: net.deployment.token,
      SVC_MAX_PER_PAYMENT: '1000000',
      SVC_MAX_TOTAL: '5000000',
      SVC_STATE_DIR: join(buyer.folder, `state-${node.name}`),
    })

    afterAll(async () => {
      for (const program of [shop, facilitator]) program?.stop()
      await Promise.all([shop?.ended, facilitator?.ended])
    })

    it('svc-facilitator checks a configuration and starts, and svc-indexer is there', async () => {
      const version = await operator.run(node, ['npx', 'node', '--version'])
      expect(version.stdout.trim()).toBe(`v${node.name}`)
      const config = readFileSync(net.configFile, 'utf8')
        .replace(/^journal = .*$/m, `journal = "${join(operator.folder, `journal-${node.name}.jsonl`)}"`)
        .replace(/^port = .*$/m, 'port = 0')
      operator.write('facilitator.toml', config)
      const check = await operator.run(
        node,
        ['svc-facilitator', 'check', '--config', 'facilitator.toml'],
        keys,
      )
      expect({ code: check.code, stderr: check.stderr }).toEqual({ code: 0, stderr: '' })
      expect(check.stdout).toMatch(/^ok {3}network\.token: /m)
      expect(check.stdout).not.toMatch(/^fail/m)
      const command = [
        'node_modules/@svc-zerc20/facilitator/bin/svc-facilitator.mjs',
        'start',
        '--config',
        'facilitator.toml',
      ]
      facilitator = await operator.start(node, command, keys, /"facilitator\.ready".*?"url":"([^"]+)"/)
      const indexer = await operator.run(node, ['npx', 'svc-indexer', '--version'])
      expect(indexer).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' })
    })

    it('an express shop sells to the buyer of thirty lines', async () => {
      const env = { FACILITATOR_URL: facilitator.found, SHOP_PORT: '0', SHOP_TOKEN: net.deployment.token }
      shop = await seller.start(
        node,
        ['shop.js'],
        { ...env, SHOP_SECRET: 'a secret of at least 32 bytes!!!' },
        /"url":"([^"]+)"/,
      )
      const bought = await buyer.run(node, ['node', 'buyer.js', `${shop.found}/cheap`], wallet())
      expect(bought).toMatchObject({ code: 0, stderr: '' })
      expect(bought.stdout).toMatch(/^200 \{"thought".*\nburned in 0x[0-9a-f]{64}\n$/)
    })

    it('the API of the README sells for its price to the payer of the README', async () => {
      const [api = '', paying = ''] = blocksOf('README.md')
        .filter(({ kind }) => kind === 'js')
        .map(({ text }) => text)
      const announced = "const at = api.listen(0, () => console.log('at', at.address().port))"
      expect(api).toContain('api.listen(3000)')
      seller.write('api.mjs', api.replace('api.listen(3000)', announced))
      const variables = {
        FACILITATOR_URL: facilitator.found,
        SHOP_NETWORK: 'eip155:31337',
        SHOP_TOKEN: net.deployment.token,
        SHOP_SECRET: 'a secret of at least 32 bytes!!!',
      }
      const own = await seller.start(node, ['api.mjs'], variables, /^at (\d+)$/m)
      try {
        const url = `http://127.0.0.1:${own.found}/report`
        const paid = await buyer.run(node, ['svc-pay', 'pay', url], wallet())
        expect(paid).toMatchObject({ code: 0, stdout: '{"report":"Rain."}' })
        expect(paid.stderr).toMatch(/paid 0\.01 zUSD/)
        buyer.write('pay.mjs', paying.replace('http://127.0.0.1:3000/report', url))
        const coded = await buyer.run(node, ['node', 'pay.mjs'], wallet())
        expect(coded).toMatchObject({ code: 0, stderr: '' })
        expect(coded.stdout).toMatch(/^\{"report":"Rain\."\} burned in 0x[0-9a-f]{64}\n$/)
      } finally {
        own.stop()
        await own.ended
      }
    })

    it('svc-pay checks a proof, and says nothing else', async () => {
      const sample = (name: string) => join(root, 'test/vectors/statement', name)
      const anchor = ['--trust-anchor', sample('trust-anchor.json')]
      const addressed = ['--audience', 'https://auditor.example', '--nonce', 'sample-nonce']
      const command = ['svc-pay', 'verify-statement', sample('receipt.json'), ...anchor, ...addressed]
      expect(await buyer.run(node, command)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^valid: the value of one burn was minted/),
        stderr: '',
      })
    })

    it('svc-pay quotes and pays', async () => {
      const { SVC_PAYER_PK: _, ...keyless } = wallet()
      const quoted = await buyer.run(node, ['svc-pay', 'quote', `${shop.found}/cheap`], keyless)
      expect(quoted).toMatchObject({ code: 0, stdout: expect.stringContaining('= 1000 base units of 0x') })
      const paid = await buyer.run(node, ['svc-pay', 'pay', `${shop.found}/cheap`], wallet())
      expect(paid).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\{"thought"/) })
      expect(paid.stderr).toMatch(/paid 0\.001 zUSD, burned in 0x[0-9a-f]{64}/)
    })
  })
})

/** Seller, payer and operator: in one folder, or each in its own, where none lives on what another installs. */
async function install(): Promise<readonly [Stranger, Stranger, Stranger]> {
  const [seller, payer, operator] = [
    installWords('seller', packed),
    installWords('payer', packed),
    installWords('operator', packed),
  ]
  if (hasFolderPerRole())
    return Promise.all([createStranger(seller), createStranger(payer), createStranger(operator)])
  const everybody = await createStranger([...new Set([...seller, ...payer, ...operator])])
  return [everybody, everybody, everybody]
}

const arrayBuffer = ({ buffer, byteOffset, byteLength }: Buffer): ArrayBuffer =>
  buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer
