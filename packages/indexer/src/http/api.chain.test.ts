import { rootOfPath, transferLeaf } from '@svc-zerc20/zk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../../../test/support/until.js'
import { get, post, recipient, startWorld, transfers, type World } from '../../test/world.js'
import { createIndexer, type Indexer } from '../indexer.js'

let world: World
let indexer: Indexer
/** Leaves before the test's own: the payer's funds. */
let first = 0

beforeAll(async () => {
  world = await startWorld()
  first = await world.leaves()
  const { chainId, token, verifier, fromBlock } = world.deployment
  indexer = await createIndexer({
    rpcUrl: world.chain.rpcUrl,
    chainId,
    token,
    verifier,
    folder: world.folder,
    pollMs: 5,
    fromBlock: Number(fromBlock),
    label: 'zUSD',
  })
  await world.mine({ to: recipient(1), value: 1234n }, { to: recipient(2), value: 1n })
  await world.mine({ to: recipient(1), value: 5n }, ...transfers(3, 10))
  const size = await world.leaves()
  await until(
    () => indexer.status().tree_synced_index === size && indexer.status().onchain_proved_index !== null,
  )
})

afterAll(async () => {
  await indexer?.close()
  await world?.close()
})

const ours = () => ({ chain_id: world.deployment.chainId, token_address: world.deployment.token })

function url(path: string, query: Record<string, string | number> = {}): string {
  const text = Object.entries(query).map(([key, value]) => [key, `${value}`])
  return `${indexer.url}${path}?${new URLSearchParams(text)}`
}

const plain = (status: number) => ({ status, type: 'text/plain; charset=utf-8', body: expect.any(String) })

describe('GET /healthz and /status', () => {
  test('healthz is empty', async () => {
    expect(await get(url('/healthz'))).toEqual({ status: 200, type: null, body: '' })
  })

  test('status has every field of generation 2 and then ours', async () => {
    const { status, body } = await get(url('/status'))
    expect(status).toBe(200)
    expect(body).toEqual([
      {
        label: 'zUSD',
        chain_id: world.deployment.chainId,
        token_address: world.deployment.token,
        verifier_address: world.deployment.verifier,
        onchain_reserved_index: 0,
        onchain_proved_index: 0,
        events_synced_index: first + 5,
        tree_synced_index: first + 6,
        ivc_generated_index: null,
        synced_block: expect.any(Number),
        sync_error: null,
        root_error: null,
      },
    ])
  })

  test('any web page may ask', async () => {
    const answer = await fetch(url('/proofs'), { method: 'OPTIONS' })
    expect(answer.status).toBe(204)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect((await fetch(url('/status'))).headers.get('access-control-allow-origin')).toBe('*')
  })
})

describe('GET /events', () => {
  test('tells the transfers to an address, oldest first, values in minimal hex, addresses checksummed', async () => {
    const { status, body } = await get(url('/events', { ...ours(), to: recipient(1) }))
    expect(status).toBe(200)
    const event = {
      from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      to: expect.stringMatching(/b001$/i),
      eth_block_number: expect.any(Number),
      token_address: world.deployment.token,
      transaction_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      log_index: expect.any(Number),
    }
    expect(body).toMatchObject([
      { ...event, event_index: first, value: '0x4d2' },
      { ...event, event_index: first + 2, value: '0x5' },
    ])
    expect(Object.keys((body as object[])[0] ?? {})).toHaveLength(8)
  })

  test('values have no leading zeros', async () => {
    const { body } = await get(url('/events', { ...ours(), to: recipient(2) }))
    expect(body).toMatchObject([{ value: '0x1' }])
  })

  test('takes addresses in any case and without 0x, and a limit', async () => {
    const query = {
      chain_id: ours().chain_id,
      token_address: ours().token_address.slice(2).toUpperCase(),
      to: recipient(1).toUpperCase().replace('0X', '0x'),
      limit: 1,
    }
    const { status, body } = await get(url('/events', query))
    expect({ status, events: (body as unknown[]).length }).toEqual({ status: 200, events: 1 })
    expect((await get(url('/events', { ...ours(), to: recipient(1), limit: 999_999 }))).status).toBe(200)
  })

  test('another token or chain is 404, a broken query 400, both in plain text', async () => {
    expect(await get(url('/events', { ...ours(), to: recipient(1), chain_id: 1 }))).toEqual(plain(404))
    expect(await get(url('/events', { ...ours(), to: recipient(1), token_address: recipient(3) }))).toEqual(
      plain(404),
    )
    expect(await get(url('/events', { ...ours(), to: '0x12' }))).toEqual(plain(400))
    expect(await get(url('/events', { ...ours() }))).toEqual(plain(400))
    expect(await get(url('/events', { ...ours(), to: recipient(1), limit: -1 }))).toEqual(plain(400))
    expect(await get(url('/events', { ...ours(), to: recipient(1), chain_id: '0x7a69' }))).toEqual(plain(400))
    expect(await get(url('/nothing'))).toEqual(plain(404))
  })
})

describe('GET /all-events', () => {
  test('tells the transfers to several addresses, with the chain', async () => {
    const recipients = `${recipient(1)},${recipient(10)},${recipient(99)}`
    const { status, body } = await get(url('/all-events', { recipients, limit: 1 }))
    expect(status).toBe(200)
    expect(body).toMatchObject([
      { event_index: first, chain_id: ours().chain_id, token_address: ours().token_address },
      { event_index: first + 3, chain_id: ours().chain_id },
    ])
  })

  test('refuses more than a hundred recipients and what is no address', async () => {
    const many = Array.from({ length: 101 }, (_, at) => recipient(at)).join(',')
    expect(await get(url('/all-events', { recipients: many }))).toEqual(plain(400))
    expect(await get(url('/all-events', { recipients: 'x' }))).toEqual(plain(400))
    expect(await get(url('/all-events'))).toEqual(plain(400))
  })
})

describe('POST /proofs', () => {
  const ask = (body: object) => post(url('/proofs'), { ...ours(), ...body })

  test('paths lead from the leaf to the root of any past size, in the order asked for', async () => {
    for (const target of [first + 1, first + 3, first + 6]) {
      const { status, body } = await ask({ target_index: target, leaf_indices: [first, 0] })
      expect(status).toBe(200)
      const [proof, other] = body as { leaf_index: number; root: string; siblings: string[] }[]
      expect(proof).toMatchObject({ target_index: target, leaf_index: first })
      expect(other).toMatchObject({ target_index: target, leaf_index: 0, root: proof?.root })
      expect(proof?.siblings).toHaveLength(40)
      const leaf = transferLeaf(2, {
        from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        to: recipient(1),
        value: 1234n,
      })
      const root = rootOfPath(leaf, first, proof?.siblings.map(BigInt) ?? [])
      expect(`0x${root.toString(16)}`).toBe(proof?.root)
      expect(proof?.siblings.every((text) => /^0x(?:0|[1-9a-f][0-9a-f]*)$/.test(text))).toBe(true)
    }
  })

  test('no leaves, no proofs', async () => {
    expect(await ask({ target_index: 1, leaf_indices: [] })).toMatchObject({ status: 200, body: [] })
  })

  test.each([
    ['target 0', { target_index: 0, leaf_indices: [0] }],
    ['a target beyond the tree', { target_index: 9_999, leaf_indices: [0] }],
    ['a leaf at the target', { target_index: 1, leaf_indices: [1] }],
    ['too many leaves', { target_index: 1, leaf_indices: Array(101).fill(0) }],
    ['a negative leaf', { target_index: 1, leaf_indices: [-1] }],
    ['a fraction', { target_index: 1.5, leaf_indices: [0] }],
    ['text for a number', { target_index: '1', leaf_indices: [0] }],
    ['no leaves field', { target_index: 1 }],
  ])('%s is 400', async (_what, body) => {
    expect(await ask(body)).toEqual(plain(400))
  })

  test('another token is 404, no JSON 400, another type 415, a large body 413', async () => {
    const other = { token_address: recipient(1), target_index: 1, leaf_indices: [0] }
    expect(await ask(other)).toEqual(plain(404))
    expect(await post(url('/proofs'), '{"chain_id":')).toEqual(plain(400))
    expect((await fetch(url('/proofs'), { method: 'POST', body: 'x' })).status).toBe(415)
    expect(await post(url('/proofs'), JSON.stringify({ fill: 'x'.repeat(20_000) }))).toEqual(plain(413))
  })
})

describe('GET /tree-index', () => {
  test('finds the size of every root the tree had', async () => {
    for (const size of [1, first + 2, first + 6]) {
      const { body } = await post(url('/proofs'), { ...ours(), target_index: size, leaf_indices: [0] })
      const { root } = (body as { root: string }[])[0] ?? { root: '' }
      expect(await get(url('/tree-index', { ...ours(), transfer_root: root }))).toMatchObject({
        status: 200,
        body: { tree_index: size },
      })
    }
  })

  test('the empty tree has its root too', async () => {
    const empty = '1334fa4b552f00ef403361c935c1abcf896851003c40daa93bb0fd0a0bb9a881'
    expect((await get(url('/tree-index', { ...ours(), transfer_root: empty }))).body).toEqual({
      tree_index: 0,
    })
  })

  test('another root is 404, no root at all 400', async () => {
    expect(await get(url('/tree-index', { ...ours(), transfer_root: '0x1' }))).toEqual(plain(404))
    expect(await get(url('/tree-index', { ...ours(), transfer_root: 'root' }))).toEqual(plain(400))
  })
})

test('an empty tree has no proofs', async () => {
  const { chainId, hub, verifier } = world.deployment
  // The hub is a contract without leaves; what it cannot tell keeps the sync, not the answers.
  const empty = await createIndexer({
    rpcUrl: world.chain.rpcUrl,
    chainId,
    token: hub,
    verifier,
    folder: `${world.folder}/empty`,
    pollMs: 5,
  })
  try {
    const body = { chain_id: chainId, token_address: hub, target_index: 1, leaf_indices: [0] }
    expect(await post(`${empty.url}/proofs`, body)).toEqual(plain(404))
    await until(() => empty.status().sync_error?.startsWith('rpc_error') === true)
  } finally {
    await empty.close()
  }
})
