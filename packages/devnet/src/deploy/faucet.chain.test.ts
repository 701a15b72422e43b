import { tokenAbi } from '@svc-zerc20/contracts'
import { type Address, createPublicClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { post } from '../../test/rpc.js'
import { type ControlServer, startControlServer } from '../network/control-server.js'
import { developmentRoles } from '../node/accounts.js'
import { type Chain, startChain } from '../node/chain.js'
import { deployContracts } from './deploy.js'
import { createFaucet, type Faucet, faucetLimits } from './faucet.js'

let chain: Chain
let token: Address
let faucet: Faucet
let control: ControlServer

beforeAll(async () => {
  chain = await startChain()
  const { deployer, payer } = developmentRoles
  token = (await deployContracts({ rpcUrl: chain.rpcUrl, deployer, payer: payer.address })).token
  faucet = createFaucet({ rpcUrl: chain.rpcUrl, minter: deployer, token })
  control = await startControlServer({ faucet })
})

afterAll(async () => {
  await control.close()
  await chain.close()
})

const stranger = () => privateKeyToAccount(generatePrivateKey()).address
const client = () => createPublicClient({ transport: http(chain.rpcUrl), cacheTime: 0 })
const tokensOf = (owner: Address) =>
  client().readContract({ address: token, abi: tokenAbi, functionName: 'balanceOf', args: [owner] })
const weiOf = (address: Address) => client().getBalance({ address })
const ask = (body: unknown) => post(`${control.url}/faucet`, JSON.stringify(body))

test('the faucet mints tokens and sends native money', async () => {
  const address = stranger()
  await faucet.mintTokens(address, 7n)
  await faucet.sendNative(address, 8n)
  expect([await tokensOf(address), await weiOf(address)]).toEqual([7n, 8n])
})

test('many gifts at once do not get into each other', async () => {
  const strangers = Array.from({ length: 10 }, stranger)
  await Promise.all(strangers.map((address) => faucet.mintTokens(address, 5n)))
  expect(await Promise.all(strangers.map(tokensOf))).toEqual(strangers.map(() => 5n))
})

test.each([0n, -1n, faucetLimits.tokenUnitsMax + 1n])(
  'the faucet does not give %i tokens',
  async (amount) => {
    await expect(faucet.mintTokens(stranger(), amount)).rejects.toThrow(RangeError)
  },
)

test('POST /faucet gives the default to an address', async () => {
  const address = stranger()
  const response = await ask({ address })
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({
    address: address.toLowerCase(),
    amount: String(faucetLimits.tokenUnitsDefault),
    tokenTransaction: expect.stringMatching(/^0x/),
    nativeTransaction: expect.stringMatching(/^0x/),
  })
  expect([await tokensOf(address), await weiOf(address)]).toEqual([
    faucetLimits.tokenUnitsDefault,
    faucetLimits.weiDefault,
  ])
})

test('POST /faucet gives what is asked for, also nothing of one kind', async () => {
  const address = stranger()
  expect((await ask({ address, amount: '123', wei: '0' })).status).toBe(200)
  expect([await tokensOf(address), await weiOf(address)]).toEqual([123n, 0n])
})

test.each([
  ['no address', {}],
  ['a short address', { address: '0x12' }],
  ['an amount that is no string', { address: `0x${'11'.repeat(20)}`, amount: 5 }],
  ['an amount above the bound', { address: `0x${'11'.repeat(20)}`, amount: String(2n ** 128n) }],
  ['a negative amount of wei', { address: `0x${'11'.repeat(20)}`, wei: '-1' }],
  ['null', null],
])('POST /faucet with %s gets 400 and a reason', async (_what, body) => {
  const response = await ask(body)
  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({ error: expect.any(String) })
})

test('POST /faucet takes only JSON of a sensible size', async () => {
  const url = `${control.url}/faucet`
  expect((await post(url, '{', {})).status).toBe(400)
  expect((await post(url, '{}', { headers: { 'content-type': 'text/plain' } })).status).toBe(415)
  expect((await post(url, 'x'.repeat(5_000))).status).toBe(413)
})

test('other paths and methods are refused', async () => {
  expect((await fetch(`${control.url}/faucet`)).status).toBe(405)
  expect((await fetch(`${control.url}/`)).status).toBe(404)
})

test('a chain that does not answer gets 502', async () => {
  chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'error', code: -32_003, message: 'no' }])
  const response = await ask({ address: stranger() })
  chain.setFaults([])
  expect(response.status).toBe(502)
})
