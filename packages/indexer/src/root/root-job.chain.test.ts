/**
 * The root job against the real verifier, with light proofs, which show nothing: that the roots are those of the transfers
 * is compared at the end. One world for all: each test goes on from the last.
 */
import { tokenAbi, verifierAbi } from '@svc-zerc20/contracts'
import { developmentRoles, minedReceipt, spareAccounts } from '@svc-zerc20/devnet'
import { createProver, type Prover } from '@svc-zerc20/prover'
import { createMemoryNodes, createMerkleTree, readArtifacts, transferLeaf } from '@svc-zerc20/zk'
import { createPublicClient, createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lightArtifacts } from '../../../../test/support/light-artifacts.js'
import { until } from '../../../../test/support/until.js'
import { startWorld, transfers, type World } from '../../test/world.js'
import type { LogEvent } from '../events.js'
import { createIndexer, type Indexer } from '../indexer.js'

const ours = developmentRoles.rootProver
const theirs = spareAccounts[0] ?? ours
const owner = privateKeyToAccount(developmentRoles.deployer.privateKey)

let world: World
let prover: Prover
let folder: string
let indexer: Indexer
const events: LogEvent[] = []
/** The root before the one that a reorg takes back. */
let provedBefore = 0

beforeAll(async () => {
  folder = await lightArtifacts()
  const { manifest } = await readArtifacts(folder)
  world = await startWorld({ proofs: { manifest, rootProvers: [ours.address, theirs.address] } })
  await world.chain.resumeMining()
  prover = createProver({ folder, processes: 1 })
  indexer = await start({ name: 'ours', key: ours.privateKey, prover, log: (event) => events.push(event) })
})

afterAll(async () => {
  await indexer?.close()
  await prover?.close()
  await world?.close()
})

function start(options: {
  name: string
  key: `0x${string}`
  prover: Prover
  log: (event: LogEvent) => void
}): Promise<Indexer> {
  const { chainId, token, verifier, fromBlock } = world.deployment
  return createIndexer({
    rpcUrl: world.chain.rpcUrl,
    chainId,
    token,
    verifier,
    pollMs: 200,
    log: options.log,
    fromBlock: Number(fromBlock),
    folder: `${world.folder}/${options.name}`,
    rootProver: { prover: options.prover, privateKey: options.key, gatherMs: 200, pollMs: 200 },
  })
}

const read = () => createPublicClient({ transport: http(world.chain.rpcUrl) })

function verifier(functionName: 'latestProvedIndex' | 'latestReservedIndex'): Promise<number> {
  const { verifier: address } = world.deployment
  return read().readContract({ address, abi: verifierAbi, functionName }).then(Number)
}

async function ownerCalls(functionName: 'activateEmergency' | 'deactivateEmergency'): Promise<void> {
  const wallet = createWalletClient({ account: owner, transport: http(world.chain.rpcUrl) })
  const { verifier: address } = world.deployment
  const hash = await wallet.writeContract({ address, abi: verifierAbi, functionName, chain: null })
  await minedReceipt(read(), hash)
}

/** Waits until our job has submitted the root over all leaves. */
async function proved(after = 0): Promise<number> {
  const leaves = await world.leaves()
  await until(() => named('root.submitted').slice(after).at(-1)?.newIndex === leaves)
  expect(await verifier('latestProvedIndex')).toBe(leaves)
  return leaves
}

const named = <Name extends LogEvent['event']>(name: Name) =>
  events.filter((event): event is Extract<LogEvent, { event: Name }> => event.event === name)

describe('the root job', () => {
  test('a mint alone is no reason to prove', async () => {
    const leaves = await world.leaves()
    await until(() => indexer.status().tree_synced_index === leaves)
    expect(leaves).toBeGreaterThan(0)
    expect(named('root.proving')).toEqual([])
  })

  test('fault 19 waits while the verifier is paused, and outlives a killed prover', async () => {
    await ownerCalls('activateEmergency')
    await world.send(...transfers(5))
    await until(() => indexer.status().root_error?.startsWith('verifier_paused'))
    await ownerCalls('deactivateEmergency')

    provedBefore = await proved()

    const [pid = 0] = prover.pids()
    // So that its proof is not over before it is killed.
    process.kill(pid, 'SIGSTOP')
    const begun = named('root.proving').length
    await world.send(...transfers(1, 50))
    await until(() => named('root.proving').length > begun)
    process.kill(pid, 'SIGKILL')
    await until(() => named('root.failed').some(({ code }) => code === 'prover_crashed'))

    const leaves = await proved()
    expect(named('root.submitted').at(-1)).toMatchObject({ newIndex: leaves, checkpoint: leaves })
    await until(() => indexer.status().onchain_proved_index === leaves)
    expect(indexer.status()).toMatchObject({ root_error: null, ivc_generated_index: leaves })
  })

  test('a reorg that takes the proof back costs a transaction, not another proof', async () => {
    const proofsBefore = named('root.proved').length
    const submittedBefore = named('root.submitted').length
    // The last two blocks hold the reservation and the proof.
    await world.chain.reorg(2)
    expect(await verifier('latestProvedIndex')).toBe(provedBefore)
    expect(await verifier('latestReservedIndex')).toBe(provedBefore)
    await proved(submittedBefore)
    expect(named('root.proved')).toHaveLength(proofsBefore)
    expect(named('root.submitted')).toHaveLength(submittedBefore + 1)
  })

  test('many transfers take one large proof instead of four small ones', async () => {
    const before = await world.leaves()
    await world.chain.pauseMining()
    await world.mine(...transfers(64 - before, 100))
    await world.chain.resumeMining()
    const count = named('root.proved').length
    expect(await proved()).toBe(64)
    expect(named('root.proved').slice(count)).toMatchObject([{ circuit: 'root-64', newIndex: 64 }])
  })

  test('gives a proof up when somebody else was faster', async () => {
    const other = createProver({ folder, processes: 1 })
    await until(() => prover.pids().length > 0)
    const [pid = 0] = prover.pids()
    process.kill(pid, 'SIGSTOP')
    try {
      await world.send(...transfers(2, 300))
      await until(() => named('root.proving').at(-1)?.oldIndex === 64)
      const rival = await start({
        name: 'theirs',
        key: theirs.privateKey,
        prover: other,
        log: () => undefined,
      })
      try {
        await until(async () => (await verifier('latestProvedIndex')) === 66)
      } finally {
        await rival.close()
      }
      expect(await until(() => named('root.outrun')[0])).toMatchObject({
        oldIndex: 64,
        newIndex: 66,
        provedIndex: 66,
      })
      await until(() => indexer.status().root_error === null)
    } finally {
      process.kill(pid, 'SIGCONT')
      await other.close()
    }
  })

  test('reserves on while a proof takes its time', async () => {
    await until(() => prover.pids().length > 0)
    const [pid = 0] = prover.pids()
    process.kill(pid, 'SIGSTOP')
    try {
      await world.send(...transfers(2, 400))
      await until(() => named('root.proving').at(-1)?.oldIndex === 66)
      const submitted = named('root.submitted').length
      await world.chain.pauseMining()
      await world.mine(...transfers(192 - (await world.leaves()), 500))
      await world.chain.resumeMining()
      expect(await until(() => named('root.reserved').find(({ index }) => index === 192))).toBeDefined()
      expect(named('root.submitted')).toHaveLength(submitted)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
  })

  test('when behind, the next proof is made while a root is being sent', async () => {
    expect(await proved()).toBe(192)
    const at = (name: LogEvent['event'], newIndex: number) =>
      events.findIndex((event) => event.event === name && 'newIndex' in event && event.newIndex === newIndex)
    expect(at('root.proving', 192)).toBeLessThan(at('root.submitted', 128))
    // Each was made once, and the earlier one goes to the nearest reservation behind it.
    expect(named('root.proving').filter(({ newIndex }) => newIndex === 192)).toHaveLength(1)
    expect(named('root.submitted').slice(-2)).toMatchObject([{ checkpoint: 192 }, { checkpoint: 192 }])
  })

  test('a proof is begun before the block of its reservation', async () => {
    const reserved = named('root.reserved').length
    await world.chain.pauseMining()
    await world.mine(...transfers(1, 900))
    await until(() => named('root.proving').at(-1)?.newIndex === 193)
    expect(named('root.reserved')).toHaveLength(reserved)
    await world.chain.resumeMining()
    expect(await proved()).toBe(193)
    expect(named('root.reserved')).toHaveLength(reserved + 1)
  })

  test('every root is the one of the transfers so far', async () => {
    const { token, verifier } = world.deployment
    const sent = await read().getContractEvents({
      address: token,
      abi: tokenAbi,
      eventName: 'IndexedTransfer',
      fromBlock: 0n,
      strict: true,
    })
    const tree = createMerkleTree({ store: createMemoryNodes(), size: 0 })
    tree.append(sent.map(({ args }) => transferLeaf(2, args)))
    const sizes = named('root.submitted').map(({ newIndex }) => newIndex)
    expect(sizes.length).toBeGreaterThan(4)
    for (const size of sizes) {
      const proved = await read().readContract({
        address: verifier,
        abi: verifierAbi,
        functionName: 'provedTransferRoots',
        args: [BigInt(size)],
      })
      expect(proved).toBe(tree.rootAt(size))
    }
  })
})
