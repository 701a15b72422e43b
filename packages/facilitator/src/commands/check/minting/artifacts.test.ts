import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { circuitNames } from '@svc-zerc20/zk'
import { describe, expect, it } from 'vitest'
import { ceremonyFolder, folderOf } from '../../../../test/artifacts.js'
import { minimalConfig } from '../../../../test/config.js'
import { parseConfig } from '../../../config/config.js'
import { isFailure } from '../../../config/finding.js'
import { probeArtifacts } from './artifacts.js'

function configOf(
  folder: string | undefined,
  changes: {
    zerc20?: string
    listen?: string
    profile?: string
    settlement?: string
    finalize?: string
  } = {},
) {
  const artifacts = folder === undefined ? '' : `artifacts = '${folder}'\n`
  const { listen = '', settlement = '' } = changes
  const text = minimalConfig({ listen, settlement }, changes.profile)
  const finalize = changes.finalize === undefined ? '' : `[finalize]\n${changes.finalize}\n`
  return parseConfig(`${text}\n${finalize}[zerc20]\n${artifacts}${changes.zerc20 ?? 'pow_bits = 8'}\n`)
}

const probe = (config: ReturnType<typeof configOf>) => probeArtifacts(config, config.zerc20.artifacts)

const failuresOf = async (...args: Parameters<typeof configOf>) =>
  (await probe(configOf(...args))).filter(isFailure).map(({ key, message }) => `${key}: ${message}`)

/** Batch mode, with the least amount that it demands. */
const batches = { settlement: "min_amount = '1'", finalize: "mode = 'batch'" }

describe('proving keys', () => {
  it('of a development setup are accepted, with a warning, when all four conditions hold', async () => {
    const findings = await probe(configOf(folderOf()))
    expect(findings.map(({ level }) => level)).toEqual(['ok', 'warn'])
    expect(findings[1]?.message).toContain('whoever made them can forge mints')
  })

  it.each<[string, Parameters<typeof configOf>[1], string]>([
    ['another profile', { profile: 'testnet' }, 'profile = "local"'],
    ['no profile', { profile: '' }, 'profile = "local"'],
    ['a bind that others reach', { listen: "host = '0.0.0.0'\n" }, 'a loopback listen.host'],
  ])('of a development setup are refused with %s', async (_what, changes, missing) => {
    expect(await failuresOf(folderOf(), changes)).toEqual([
      `zerc20.artifacts: keys of a development setup, which need ${missing}`,
    ])
  })

  it('of a development setup are refused with a node elsewhere and with another chain', async () => {
    const config = configOf(folderOf())
    const away = { ...config, network: { ...config.network, rpc_url: 'https://node.example', chain_id: 1 } }
    expect(await probe(away)).toMatchObject([
      { level: 'fail', message: expect.stringMatching(/network\.rpc_url and network\.chain_id = 31337$/) },
    ])
  })

  const usualBits = 'pow_bits = 16'

  it('of a ceremony are accepted under every profile', async () => {
    const findings = await probe(configOf(ceremonyFolder(), { profile: 'production', zerc20: usualBits }))
    expect(findings).toEqual([
      {
        level: 'ok',
        key: 'zerc20.artifacts',
        message: expect.stringMatching(/^ceremony keys, 16 bits, in /),
      },
    ])
  })

  it('that only the manifest calls those of a ceremony are refused, whichever circuit they are for', async () => {
    const changes = { profile: 'production', zerc20: usualBits }
    for (const name of circuitNames) {
      expect(await failuresOf(ceremonyFolder({}, name), changes)).toEqual([
        'zerc20.artifacts: the proving key is no key file',
      ])
    }
    expect(await failuresOf(folderOf({ setup: 'ceremony' }), changes)).toEqual([
      'zerc20.artifacts: withdraw-local: a ceremony has contributions, and only a ceremony',
    ])
  })

  it('for little proof of work are worth a warning where others have accounts', async () => {
    const weak = ceremonyFolder({ powBits: 8 })
    const warnings = async (profile: string) =>
      (await probe(configOf(weak, { profile }))).filter(({ level }) => level === 'warn')
    expect(await warnings('local')).toEqual([])
    expect(await warnings('testnet')).toMatchObject([{ message: expect.stringContaining('demand 8 bits') }])
  })

  it('are refused when burns of this configuration could never be minted with them', async () => {
    expect(await failuresOf(folderOf(), { zerc20: 'pow_bits = 7' })).toEqual([
      'zerc20.pow_bits: is 7, but the circuits demand 8: burns could never be minted',
    ])
  })

  it('are refused when they are not there, of another version, or changed since they were made', async () => {
    expect(await failuresOf(join(tmpdir(), 'no-such-folder'))).toHaveLength(1)
    expect(await failuresOf(folderOf({ format: 2 }))).toEqual([
      'zerc20.artifacts: the manifest is not one of this version',
    ])
    expect(await failuresOf(folderOf({}, 'withdraw-local.zkey'))).toHaveLength(1)
  })

  it('of batches are read where payments are minted together, and nowhere else', async () => {
    for (const file of ['batch-withdraw.zkey', 'batch-withdraw.wasm']) {
      const folder = folderOf({}, file)
      expect(await failuresOf(folder)).toEqual([])
      expect(await failuresOf(folder, batches)).toEqual([
        `zerc20.artifacts: ${file} is not the file of the manifest`,
      ])
    }
    expect(await failuresOf(folderOf(), batches)).toEqual([])
  })

  it('that are not set are worth a warning only where payments are accepted', async () => {
    expect(await probe(configOf(undefined))).toMatchObject([{ level: 'warn' }])
    expect(await probe(configOf(undefined, { profile: 'testnet' }))).toEqual([])
  })
})
