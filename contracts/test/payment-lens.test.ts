import {
  type Address,
  decodeFunctionResult,
  encodeDeployData,
  type Hex,
  numberToHex,
  zeroAddress,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, expect, test } from 'vitest'
import { paymentLensAbi, paymentLensBytecode } from '../generated/index.js'
import { deployBurner, deployToken, mint } from './support/burns.js'
import { type Chain, startChain } from './support/chain.js'

/** Enough for any batch a facilitator collects, and within what a node lets a creation return. */
const manyPermits = 150

let chain: Chain
let token: Address
let burner: Address

beforeAll(async () => {
  chain = await startChain()
  token = await deployToken(chain, 'Lens zUSD')
  burner = await deployBurner(chain)
})

async function read(helper: Address, payers: readonly Address[], burnAddresses: readonly Address[]) {
  const challengeNonce: Hex = `0x${'ab'.repeat(32)}`
  const permits = payers.map((payer) => ({ payer, burnAddress: payer, value: 1n, challengeNonce }))
  const data = encodeDeployData({
    abi: paymentLensAbi,
    bytecode: paymentLensBytecode,
    args: [token, helper, permits, burnAddresses],
  })
  const { data: answer } = await chain.client.call({ data })
  if (!answer) throw new Error('the lens answered nothing')
  const [timestamp, blockNumber, chainId, permitFacts, burnBalances, tokenName] = decodeFunctionResult({
    abi: paymentLensAbi,
    functionName: 'read',
    data: answer,
  })
  return { timestamp, blockNumber, chainId, permitFacts, burnBalances, tokenName }
}

test('one eth_call without an address answers every fact at one block', async () => {
  const payer = privateKeyToAccount(`0x${'0a'.repeat(32)}`).address
  await mint(chain, token, payer, 77n)
  const facts = await read(burner, [payer], [payer])
  const block = await chain.client.getBlock()
  expect(facts).toEqual({
    timestamp: block.timestamp,
    blockNumber: block.number,
    chainId: BigInt(chain.client.chain.id),
    permitFacts: [{ nonce: 0n, balance: 77n, allowance: 0n, executed: false, code: 0 }],
    burnBalances: [77n],
    tokenName: 'Lens zUSD',
  })
})

test('works without a helper', async () => {
  const { permitFacts } = await read(zeroAddress, [chain.operator.address], [])
  expect(permitFacts).toEqual([{ nonce: 0n, balance: 0n, allowance: 0n, executed: false, code: 0 }])
})

test(`answers ${manyPermits} permits in one call`, async () => {
  const payers = Array.from({ length: manyPermits }, (_, index) => numberToHex(2 ** 40 + index, { size: 20 }))
  const { permitFacts } = await read(burner, payers, [])
  expect(permitFacts).toHaveLength(manyPermits)
})

test('R-026 a delegated account is told from a contract', async () => {
  const account = privateKeyToAccount(`0x${'0b'.repeat(32)}`)
  const nonce = await chain.client.getTransactionCount({ address: account.address })
  const authorization = await account.signAuthorization({
    address: token,
    chainId: chain.client.chain.id,
    nonce,
  })
  await chain.mined(
    await chain.client.sendTransaction({ to: chain.operator.address, authorizationList: [authorization] }),
  )
  const { permitFacts } = await read(burner, [account.address, token, chain.operator.address], [])
  expect(permitFacts.map(({ code }) => code)).toEqual([1, 2, 0])
})

test('a token that is none makes the call fail instead of answering zeros', async () => {
  const data = encodeDeployData({
    abi: paymentLensAbi,
    bytecode: paymentLensBytecode,
    args: [burner, zeroAddress, [], []],
  })
  await expect(chain.client.call({ data })).rejects.toThrow()
})
