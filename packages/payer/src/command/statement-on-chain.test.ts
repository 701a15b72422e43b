/** A statement beside a chain whose node says what a test wants. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verifierAbi } from '@svc-zerc20/contracts'
import { indexedTransferTopic } from '@svc-zerc20/evm'
import { encodeAbiParameters, toEventSelector, toFunctionSelector, toHex } from 'viem/utils'
import { afterEach, expect, it } from 'vitest'
import { compareWithChain } from './statement-on-chain.js'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

const token = `0x${'aa'.repeat(20)}`
const verifier = `0x${'cc'.repeat(20)}` as const
const burnTransaction = `0x${'bb'.repeat(32)}` as const
const word = (value: bigint | number) => toHex(value, { size: 32 })
const address = (digit: string) => `0x${digit.repeat(20)}` as const
const teleport = verifierAbi.filter((item) => item.type === 'event').find(({ name }) => name === 'Teleport')
const claims = { network: 'eip155:31337', token, burnTransaction, leafIndex: '5', value: '1000' }
const kind = 'finality'

type Chain = {
  chainId: number
  status: string
  proved: number
  mints: readonly bigint[]
  burns: readonly (readonly [leaf: number, value: bigint])[]
}
const healthy: Chain = { chainId: 31_337, status: '0x1', proved: 6, mints: [400n, 700n], burns: [[5, 1000n]] }

/** A node with burns in one transaction of block 9, and these mints in block 12. */
async function node(changes: Partial<Chain> = {}): Promise<string> {
  const chain = { ...healthy, ...changes }
  const answer = ({
    method,
    params,
  }: {
    method: string
    params: [{ data?: string; to?: string }]
  }): unknown => {
    if (method === 'eth_chainId') return toHex(chain.chainId)
    if (method === 'eth_blockNumber') return toHex(12)
    if (method === 'eth_getBlockByNumber') return { number: toHex(12), hash: word(12), timestamp: toHex(12) }
    if (method === 'eth_call') {
      return params[0].data === toFunctionSelector('verifier()')
        ? `0x${'0'.repeat(24)}${verifier.slice(2)}`
        : word(chain.proved)
    }
    if (method === 'eth_getLogs') {
      return chain.mints.map((value) => ({
        address: verifier,
        topics: [teleport && toEventSelector(teleport), word(1)],
        data: `${word(value)}${'0'.repeat(64 * 6)}`,
        blockNumber: toHex(12),
      }))
    }
    const logs = chain.burns.map(([leaf, value]) => ({
      address: token,
      topics: [indexedTransferTopic, word(leaf)],
      data: encodeAbiParameters(
        [{ type: 'address' }, { type: 'address' }, { type: 'uint256' }],
        [address('11'), address('22'), value],
      ),
    }))
    return {
      transactionHash: burnTransaction,
      blockHash: word(9),
      blockNumber: toHex(9),
      status: chain.status,
      logs,
    }
  }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const asked = JSON.parse(text)
    const one = (call: { id: number; method: string; params: [object] }) => ({
      jsonrpc: '2.0',
      id: call.id,
      result: answer(call),
    })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(Array.isArray(asked) ? asked.map(one) : one(asked)))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const compared = async (chain: Partial<Chain>, changes: object = {}) =>
  (await compareWithChain({ kind, claims: { ...claims, ...changes } }, await node(chain))).map(
    ({ level, what }) => `${level} ${what}`,
  )

it('a burn that is there, under a proved root, with enough minted since, fits the chain', async () => {
  expect(await compareWithChain({ kind, claims }, await node())).toEqual([
    { level: 'ok', what: 'burn', found: 'leaf 5 with 1000, in block 9' },
    { level: 'ok', what: 'root', found: 'the verifier has proved 6 leaves' },
    { level: 'ok', what: 'mints', found: '2 mints of 1100 in all since the burn' },
  ])
})

it.each<[string, Partial<Chain>, object, string]>([
  ['another chain', { chainId: 1 }, {}, 'fail network'],
  ['a burn that reverted', { status: '0x0' }, {}, 'fail burn'],
  ['another leaf', {}, { leafIndex: '6' }, 'fail burn'],
  ['another value', {}, { value: '1001' }, 'fail burn'],
  ['another payer', {}, { payer: address('99') }, 'fail burn'],
  ['its payer', {}, { payer: address('11') }, 'ok burn'],
  ['another token', {}, { token: address('dd') }, 'fail burn'],
  ['a leaf that no root has', { proved: 5 }, {}, 'fail root'],
  ['less minted than burned', { mints: [999n] }, {}, 'fail mints'],
  ['nothing minted', { mints: [] }, {}, 'fail mints'],
  ['a statement that hides the burn', {}, { burnTransaction: undefined }, 'open burn'],
])('%s: %s %s', async (_, chain, changes, finding) => {
  expect(await compared(chain, changes)).toContain(finding)
})

it('a node that is no URL is a mistake, and one that is down a failure', async () => {
  await expect(compareWithChain({ kind, claims }, 'localhost')).rejects.toMatchObject({
    code: 'payer_misconfigured',
  })
  await expect(compareWithChain({ kind, claims }, 'http://127.0.0.1:1')).rejects.toMatchObject({
    code: 'rpc_unreachable',
  })
})

it('a holder that hides leaf and value is not taken for another payer of the same transaction', async () => {
  const burns = [
    [4, 1_000_000n],
    [5, 1000n],
  ] as const
  const [leafIndex, value] = [undefined, undefined]
  expect(await compared({ burns }, { leafIndex, value })).toEqual(['open burn'])
  expect(await compared({ burns }, { leafIndex })).toContain('ok burn')
  expect(await compared({ burns: [...burns, [6, 1000n]] }, { leafIndex })).toEqual(['open burn'])
})

it('a payment that is accepted and not minted yet is not refuted, and one that says it was minted is', async () => {
  const url = await node({ proved: 5, mints: [] })
  const levels = async (told: object) =>
    (await compareWithChain({ kind: 'payment', claims: { ...claims, ...told } }, url)).map(
      ({ level, what }) => `${level} ${what}`,
    )
  expect(await levels({ acceptedAt: 1 })).toEqual(['ok burn', 'open mints'])
  expect(await levels({ finalizedOn: '2026-01-01' })).toEqual(['ok burn', 'fail root', 'fail mints'])
})
