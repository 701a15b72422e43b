import { feeSplitterAbi } from '@svc-zerc20/contracts'
import { createPublicClient, http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { developmentRoles } from '../node/accounts.js'
import { type Chain, startChain } from '../node/chain.js'
import { openFee } from './fee-mode.js'

const { provider, feeRecipient, payer } = developmentRoles
const token = payer.address

let chain: Chain
beforeAll(async () => {
  chain = await startChain()
})
afterAll(() => chain.close())

const open = (chargeTo: 'payer' | 'provider', isSplit: boolean, log: string[] = []) =>
  openFee({ chargeTo, isSplit }, { rpcUrl: chain.rpcUrl, token, say: (line) => log.push(line) })

test('a fee that is not split is sent on to its recipient, and deploys nothing', async () => {
  const log: string[] = []
  const { tables, splitter } = await open('provider', false, log)
  expect(tables).toEqual({
    fee: { bps: 250, min_per_payment: '0', charge_to: 'provider', recipient: feeRecipient.address },
  })
  expect([splitter, log]).toEqual([undefined, []])
})

test('a splitter is the treasury, pays provider and recipient, and is found again', async () => {
  const { tables, splitter = '0x' } = await open('payer', true)
  expect(tables).toMatchObject({
    settlement: { treasury: splitter },
    fee: { bps: 250, min_per_payment: '0', charge_to: 'payer', splitter },
  })
  const read = createPublicClient({ transport: http(chain.rpcUrl) })
  const ask = (functionName: 'token' | 'provider' | 'feeRecipient' | 'bps' | 'payerPays') =>
    read.readContract({ address: splitter, abi: feeSplitterAbi, functionName })
  expect(await Promise.all([ask('token'), ask('provider'), ask('feeRecipient')])).toEqual([
    token,
    provider.address,
    feeRecipient.address,
  ])
  expect(await Promise.all([ask('bps'), ask('payerPays')])).toEqual([250, true])

  const other = await open('provider', true)
  expect(other.splitter).not.toBe(splitter)
  const log: string[] = []
  expect((await open('payer', true, log)).splitter).toBe(splitter)
  expect((await open('provider', true, log)).splitter).toBe(other.splitter)
  expect(log).toEqual([])
})
