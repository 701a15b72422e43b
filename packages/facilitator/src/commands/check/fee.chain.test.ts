import { feeSplitterAbi, feeSplitterBytecode, feeSplitterRuntime } from '@svc-zerc20/contracts'
import { type Chain, developmentRoles, minedReceipt, startChain } from '@svc-zerc20/devnet'
import { createJsonRpc } from '@svc-zerc20/evm'
import { type Address, parseAddress } from '@svc-zerc20/protocol'
import { createPublicClient, createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressOf, units } from '../../../test/challenges.js'
import { splitOf } from '../../../test/splitter.js'
import type { PartialConfig } from '../../config/config.js'
import { format } from '../../config/finding.js'
import { createChainView } from './chain-view.js'
import { type KeyAddresses, probeFee } from './fee.js'
import { probeFunds } from './funds.js'

const lower = (address: string) => parseAddress(address) as Address
const treasury = lower(developmentRoles.treasury.address)
const relayer = lower(developmentRoles.relayer.address)
const [token, provider, recipient] = [addressOf(0xa1), addressOf(0xa2), addressOf(0xa3)]

let chain: Chain
let splitters: Record<'payer' | 'provider', Address>

beforeAll(async () => {
  chain = await startChain()
  splitters = { payer: await deploySplitter(250, true), provider: await deploySplitter(250, false) }
})
afterAll(() => chain.close())

const client = () => createPublicClient({ transport: http(chain.rpcUrl) })

async function deploySplitter(bps: number, payerPays: boolean): Promise<Address> {
  const account = privateKeyToAccount(developmentRoles.deployer.privateKey)
  const wallet = createWalletClient({ account, transport: http(chain.rpcUrl) })
  const hash = await wallet.deployContract({
    abi: feeSplitterAbi,
    bytecode: feeSplitterBytecode,
    chain: null,
    args: [token, provider, recipient, bps, payerPays],
  })
  const { contractAddress } = await minedReceipt(client(), hash)
  return lower(contractAddress ?? '')
}

type Fee = NonNullable<PartialConfig['fee']>

function configOf(fee: Fee, changes: Partial<PartialConfig> = {}): PartialConfig {
  const unset = { listen: {}, daemon: {}, finalize: {}, log: {}, history: {}, zerc20: {}, storage: {} }
  const settlement = { treasury: fee.splitter ?? treasury }
  return { ...unset, sellers: [], profile: 'local', network: { token }, settlement, fee, ...changes }
}

async function findingsOf(config: PartialConfig, keys: KeyAddresses | 'missing' = { treasury, relayer }) {
  const rpc = createJsonRpc({ url: chain.rpcUrl, timeoutMs: 5_000, answerBytesMax: 1_000_000 })
  const view = createChainView(rpc)
  const given = keys === 'missing' ? undefined : keys
  const funds = await probeFunds(view, config, given)
  const ofTreasury = funds.filter(({ key }) => key === 'SVC_TREASURY_PK')
  return [...(await probeFee(view, config, given)), ...ofTreasury].map(format)
}

const splitFee = (chargeTo: 'payer' | 'provider', changes: Partial<Fee> = {}): Fee => ({
  bps: 250,
  min_per_payment: units(0n),
  charge_to: chargeTo,
  splitter: splitters[chargeTo],
  ...changes,
})

describe('a splitter', () => {
  it('R-069 is ours and takes the fee of the table, and check says whom it pays', async () => {
    expect(await findingsOf(configOf(splitFee('payer')))).toEqual([
      'ok   fee.splitter: pays the provider 0x00000000000000000000000000000000000000A2, and 250 basis points ' +
        'on top of the price to 0x00000000000000000000000000000000000000A3',
    ])
    expect(await findingsOf(configOf(splitFee('provider', { recipient })))).toEqual([
      expect.stringContaining('250 basis points out of the price'),
    ])
    // The key is only entropy here: its address is no matter.
    expect(await findingsOf(configOf(splitFee('payer')), 'missing')).toHaveLength(1)
  })

  it('R-060 R-065 R-067 R-069 that differs from the table is refused, with every difference', async () => {
    const wrong = splitFee('payer', {
      bps: 251,
      charge_to: 'provider',
      recipient: provider,
    })
    const { splitter } = wrong
    expect(await findingsOf(configOf(wrong, { network: { token: addressOf(0xa9) } }))).toEqual([
      `fail fee.splitter: ${splitter} divides the token ${token}, not network.token`,
      'fail fee.bps: is 251, but the splitter takes 250',
      'fail fee.charge_to: is "provider", but the splitter takes its fee on top of the price ("payer")',
      `fail fee.recipient: is ${provider}, but the splitter pays the fee to ${recipient}`,
    ])
  })

  it('R-069 with other code is refused, or with none', async () => {
    const elsewhere = addressOf(0xb1)
    const fee = splitFee('payer', { splitter: elsewhere })
    expect(await findingsOf(configOf(fee))).toEqual([`fail fee.splitter: no contract at ${elsewhere}`])
    const code = await client().getCode({ address: splitters.payer })
    await chain.request('hardhat_setCode', [elsewhere, `${code}00`])
    expect(await findingsOf(configOf(fee))).toEqual([
      `fail fee.splitter: the code at ${elsewhere} is not our FeeSplitter: nobody knows whom it pays`,
    ])
  })

  it.each([
    ['no provider', { provider: '0'.repeat(64) }, 'has parameters that no FeeSplitter has'],
    ['an address with more in front', { provider: 'a2'.padStart(64, '10') }, 'has parameters that no'],
    ['more than the whole as its share', { bps: (10_001).toString(16).padStart(64, '0') }, 'has parameters'],
    ['neither charge mode', { payerPays: '2'.padStart(64, '0') }, 'has parameters that no FeeSplitter has'],
    ['its own token as the provider', { provider: 'a1'.padStart(64, '0') }, 'its provider is the contract'],
    ['itself as the fee recipient', { feeRecipient: 'b2'.padStart(64, '0') }, 'its fee recipient is the'],
    ['one account for both', { provider: 'a3'.padStart(64, '0') }, 'pays provider and fee to one account'],
  ])('R-069 made by another constructor with %s is refused', async (_, words, expected) => {
    const forged = addressOf(0xb2)
    let code = (await client().getCode({ address: splitters.payer })) ?? '0x'
    for (const [name, word] of Object.entries(words)) {
      for (const place of feeSplitterRuntime.immutables[name as keyof typeof feeSplitterRuntime.immutables]) {
        const from = 2 + 2 * place
        code = `0x${code.slice(2, from)}${word}${code.slice(from + 64)}`
      }
    }
    await chain.request('hardhat_setCode', [forged, code])
    expect(await findingsOf(configOf(splitFee('payer', { splitter: forged })))).toEqual([
      expect.stringContaining(expected),
    ])
  })

  it('divides as the tests of quotes assume', async () => {
    for (const [chargeTo, address] of Object.entries(splitters)) {
      for (const balance of [0n, 1n, 39n, 40n, 41n, 10_250n, 10_251n, 2n ** 248n - 1n]) {
        const [toProvider, toFeeRecipient] = await client().readContract({
          abi: feeSplitterAbi,
          address,
          functionName: 'split',
          args: [balance],
        })
        const payerPays = chargeTo === 'payer'
        expect({ toProvider, toFeeRecipient }).toEqual(splitOf(balance, { bps: 250, payerPays }))
      }
    }
  })
})

describe('a treasury that keeps the fee until it is sent on', () => {
  const fee: Fee = { bps: 250, min_per_payment: units(0n), charge_to: 'payer', recipient }

  it('R-068 R-081 has the key that sends it, and money for gas', async () => {
    expect(await findingsOf(configOf(fee))).toEqual([
      "ok   fee.recipient: the treasury's key sends the fee on to 0x00000000000000000000000000000000000000A3",
      expect.stringMatching(/^ok {3}SVC_TREASURY_PK: the treasury 0x[0-9a-f]{40} has \d+ of the native/),
    ])
    // Another finding tells that a key is missing.
    expect(await findingsOf(configOf(fee), 'missing')).toEqual([])
  })

  it('R-081 is refused when its key is another, or sends burns, too', async () => {
    expect(await findingsOf(configOf(fee, { settlement: { treasury: provider } }))).toEqual([
      `fail settlement.treasury: is ${provider}, but SVC_TREASURY_PK, which sends the fee on, is the key of ${treasury}`,
    ])
    expect(await findingsOf(configOf(fee), { treasury, relayer: treasury })).toEqual([
      'fail SVC_RELAYER_PK: is also SVC_TREASURY_PK: its burns and mints would displace the transfers of fees',
    ])
  })

  it('R-081 fails without gas, warns with too little, and needs none where nothing is sent', async () => {
    const poor = addressOf(0xc1)
    const config = configOf(fee, { settlement: { treasury: poor } })
    const keys = { treasury: poor, relayer }
    expect((await findingsOf(config, keys))[1]).toBe(
      `fail SVC_TREASURY_PK: the treasury ${poor} has no money for gas: no fee can be sent to fee.recipient`,
    )
    await chain.request('hardhat_setBalance', [poor, '0x1'])
    expect((await findingsOf(config, keys))[1]).toMatch(
      /^warn SVC_TREASURY_PK: .* a transfer of fees reserves/,
    )
    expect(await findingsOf({ ...config, profile: 'production' }, keys)).toHaveLength(1)
  })
})
