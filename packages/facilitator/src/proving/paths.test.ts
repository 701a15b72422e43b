import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMemoryNodes, createMerkleTree, fieldPrime, transferLeaf } from '@svc-zerc20/zk'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addressOf, burnOf, challengeOf, deployment, units } from '../../test/challenges.js'
import { createIndexer } from '../chain/indexer.js'
import { createMerklePaths } from './paths.js'

const leafIndex = 70
const challenge = challengeOf(1)
const { from, value } = burnOf(1)
const leaf = { leafIndex: BigInt(leafIndex), from, to: challenge.payTo, value }
const tree = createMerkleTree({ store: createMemoryNodes(), size: 0 })
tree.append(
  Array.from({ length: 100 }, (_, i) =>
    i === leafIndex
      ? transferLeaf(2, leaf)
      : transferLeaf(2, { from: addressOf(i + 1), to: addressOf(i + 2), value: units(BigInt(i)) }),
  ),
)
const root = { size: 100n, root: tree.rootAt(100), isPaused: false }
const siblings = tree.pathAt(leafIndex, 100).siblings

let server: Server
let asked: { leaf_indices: number[] }[]
let alter: (siblings: readonly bigint[]) => readonly bigint[]

beforeEach(async () => {
  asked = []
  alter = (path) => path
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const question = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    asked.push(question)
    const paths = question.leaf_indices.map((leaf: number) => ({
      siblings: alter(tree.pathAt(leaf, question.target_index).siblings).map(
        (node) => `0x${node.toString(16)}`,
      ),
    }))
    response.end(JSON.stringify(paths))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(() => new Promise<void>((resolve) => server.close(() => resolve())))

function setup() {
  const events: string[] = []
  let askedOwnTree = 0
  const paths = createMerklePaths({
    indexer: createIndexer({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      chainId: deployment.chainId,
      token: deployment.token,
      timeoutMs: 5_000,
      statusMs: 1_000,
      answerBytesMax: 512 * 1024,
    }),
    ownTree: {
      async siblings() {
        askedOwnTree += 1
        return siblings
      },
      close: async () => undefined,
    },
    report: ({ event }) => events.push(event),
  })
  return {
    events,
    askedOwnTree: () => askedOwnTree,
    path: () => paths(leaf, root, new AbortController().signal),
  }
}

describe('a path from the indexer', () => {
  it('is taken when it leads to the root on chain', async () => {
    const { path, askedOwnTree } = setup()
    expect(await path()).toEqual(siblings)
    expect(askedOwnTree()).toBe(0)
  })

  it('is asked for together with its whole stretch of leaves, so that the indexer does not learn which is ours', async () => {
    await setup().path()
    expect(asked.map(({ leaf_indices }) => leaf_indices)).toEqual([
      Array.from({ length: 36 }, (_, i) => 64 + i),
    ])
  })

  it.each([
    ['has another node', (path: readonly bigint[]) => [7n, ...path.slice(1)]],
    ['is too short', (path: readonly bigint[]) => path.slice(1)],
    // This path hashes to the same root, but no circuit takes it.
    [
      'has a node above the prime',
      (path: readonly bigint[]) => [(path[0] ?? 0n) + fieldPrime, ...path.slice(1)],
    ],
  ])('fault 19: one that %s is refused, and our own tree answers', async (_, lie) => {
    alter = lie
    const { path, askedOwnTree, events } = setup()
    expect(await path()).toEqual(siblings)
    expect(askedOwnTree()).toBe(1)
    expect(events).toEqual(['indexer.failed'])
  })
})
