import { indexedTransferTopic } from '@svc-zerc20/evm'
import { encodeAbiParameters, numberToHex, pad } from 'viem/utils'
import { expect, it } from 'vitest'
import { addressOf, challengeOf, deployment, hashOf } from '../../test/challenges.js'
import { blocksUpTo, scriptedRpc } from '../../test/scripted-rpc.js'
import { createChain } from './chain.js'

const challenge = challengeOf(1, { issuedAtBlock: 1_000n })
const payer = addressOf(0xfa)
const txHash = hashOf(7)
const transfer = {
  address: deployment.token,
  topics: [indexedTransferTopic, pad('0x05')],
  data: encodeAbiParameters(
    [{ type: 'address' }, { type: 'address' }, { type: 'uint256' }],
    [payer, challenge.payTo, 1000n],
  ),
}

/** A node that refuses questions over more than `spanMax` blocks; the burn is in block `burnedIn`. */
function setup({ spanMax, burnedIn, head }: { spanMax: number; burnedIn: number; head: number }) {
  const spans: [number, number][] = []
  const rpc = scriptedRpc({
    ...blocksUpTo(() => head),
    eth_getLogs(filter: { fromBlock: string; toBlock: string }) {
      const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)]
      if (!(to - from < spanMax)) throw new Error('block range too large')
      spans.push([from, to])
      return from <= burnedIn && burnedIn <= to ? [{ transactionHash: txHash }] : []
    },
    eth_getTransactionReceipt: () => ({
      transactionHash: txHash,
      blockHash: hashOf(8),
      blockNumber: numberToHex(burnedIn),
      status: '0x1',
      logs: [transfer],
    }),
  })
  const chain = createChain({
    rpc,
    token: deployment.token,
    helper: addressOf(0xa3),
    chainId: deployment.chainId,
    lensQueriesMax: 1,
    lensCallsInFlightMax: 1,
    logSpanBlocksMax: 5_000,
    fromBlock: 900,
    headStepBlocks: 16n,
  })
  return { chain, spans }
}

it('finds an executed burn on a node that bounds the blocks of one question, and sees the head', async () => {
  const { chain, spans } = setup({ spanMax: 100, burnedIn: 1_350, head: 9_000 })
  expect(await chain.findExecutedBurn(challenge, payer)).toMatchObject({ txHash, blockNumber: 1_350n })
  expect(spans[0]?.[0]).toBe(1_000)
  expect(spans.at(-1)?.[1]).toBeLessThan(9_000)
  // The depth of the burn is counted from the head, not from where the search ended.
  expect(chain.headNumber()).toBe(9_000n)
})

it('a challenge issued while the node lied about its head is searched for from the first block there can be', async () => {
  const { chain, spans } = setup({ spanMax: 5_000, burnedIn: 1_350, head: 9_000 })
  const misdated = challengeOf(1, { issuedAtBlock: 9_001n })
  expect(await chain.findExecutedBurn(misdated, payer)).toMatchObject({ txHash, blockNumber: 1_350n })
  expect(spans[0]?.[0]).toBe(900)
})

it('finds no executed burn where there is none, and asks for every block once', async () => {
  const { chain, spans } = setup({ spanMax: 5_000, burnedIn: 999, head: 12_000 })
  expect(await chain.findExecutedBurn(challenge, payer)).toBeUndefined()
  expect(spans).toEqual([
    [1_000, 5_999],
    [6_000, 10_999],
    [11_000, 12_000],
  ])
})
