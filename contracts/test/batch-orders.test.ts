// Random orders of everything that can happen to the burns of one recipient hash, against the real contracts. The keys are
// toys, so a proof takes no time; the model proves only what is true. `batch-proofs.test.ts` has the real proofs.
import { batchRange, treeHeight } from '@svc-zerc20/zk'
import fc from 'fast-check'
import { type Address, type Hex, numberToHex } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import { keyArgument, rootVerifierAbi, rootVerifierBytecode, type Transfer } from '../index.js'
import { type Chain, startChain } from './support/chain.js'
import { recipientOf, toyBatch, toyMint, toyRootClaim } from './support/toy-claims.js'
import { toyKey, toyKeys } from './support/toy-key.js'
import { deployZerc20, succeed, type Zerc20 } from './support/zerc20.js'

const runs = Number(process.env.FUZZ_RUNS ?? 6)
const runMs = 20_000
const powBits = 8
const provider = account(1)
const tweak = 5
/** Small, so that a few burns are already too many for one proof. */
const shape = { depth: treeHeight, windowHeight: 2, slots: 3, windows: 2 }
/** One root proof for all leaves of a run. */
const rootBatch = 256

let chain: Chain
let manyLeaves: Address
/** Each runs a daemon; a payment service changes from one to the other when it changes its key. */
let senders: readonly Address[]

beforeAll(async () => {
  chain = await startChain()
  const key = keyArgument(await toyKey(chain, 6))
  manyLeaves = await chain.deploy(rootVerifierAbi, rootVerifierBytecode, [key, rootBatch])
  senders = [account(0xa11ce), account(0xb0b), account(0xbad)]
  const request = chain.client.request as (call: { method: string; params: unknown[] }) => Promise<unknown>
  for (const sender of senders) {
    await request({ method: 'hardhat_impersonateAccount', params: [sender] })
    await request({ method: 'hardhat_setBalance', params: [sender, numberToHex(10n ** 22n)] })
  }
})

type Leaf = { readonly leafIndex: number; readonly value: bigint }

/** One network with one recipient hash, and what is true of it. */
async function createWorld() {
  let zerc20: Zerc20 = await deployZerc20(chain, await toyKeys(chain), powBits)
  await zerc20.setRootVerifier(manyLeaves)
  const transfers: Transfer[] = []
  /** Every burn, and those that a daemon knows of: a record can be lost, and a transfer can be found late. */
  const burns: Leaf[] = []
  const known: Leaf[] = []
  /** The latest proved root; a root of n leaves is the number n, as nothing is proved about it. */
  let proved = 0
  const rootOf = (size: number) => 2n ** 252n + BigInt(size)
  const under = () => ({ isGlobal: false, rootHint: BigInt(proved), root: rootOf(proved) })
  const sum = (leaves: readonly Leaf[]) => leaves.reduce((total, { value }) => total + value, 0n)
  transfers.push(await zerc20.mint(chain.operator.address, 10n ** 9n))
  const { hash: recipientHash } = recipientOf(chain, provider, tweak)

  const minted = () => zerc20.read('totalTeleported', [recipientHash])
  /** A mint is a leaf of its own. */
  async function follow(act: () => Promise<unknown>) {
    const before = await minted()
    await act()
    const value = (await minted()) - before
    if (value > 0n) transfers.push({ from: account(0), to: provider, value })
  }

  const world = {
    burns,
    minted,
    balance: () => zerc20.balanceOf(provider),
    burned: () => sum(burns),
    async burn(value: bigint, isMissed: boolean) {
      const leaf = { leafIndex: transfers.length, value }
      transfers.push(await zerc20.transfer(account(0xdead), value))
      burns.push(leaf)
      if (!isMissed) known.push(leaf)
    },
    /** Which is no leaf. */
    transferNothing: () => zerc20.transfer(account(0xdead), 0n),
    async others() {
      transfers.push(await zerc20.mint(account(77), 5n))
    },
    find() {
      known.splice(0, known.length, ...burns)
    },
    async prove() {
      if (proved === transfers.length) return
      await zerc20.reserve()
      const newRoot = rootOf(transfers.length)
      const claim = { transfers, batch: rootBatch, from: proved, newRoot }
      await zerc20.proveRoot(await toyRootClaim(chain, zerc20, claim))
      proved = transfers.length
    },
    /** Anybody proves one leaf, which the contract refuses where it brings nothing. */
    async single(pick: number) {
      const open = burns.filter(({ leafIndex }) => leafIndex < proved)
      const { value } = open[pick % open.length] ?? { value: 0n }
      if (value <= (await minted())) return
      const mint = await toyMint(chain, under(), { to: provider, tweak, value })
      await follow(() => zerc20.singleTeleport(mint))
    },
    /** One proof of a daemon that has just been started: all it has are the chain and the burns that it knows of. */
    async count(sender: Address): Promise<boolean> {
      const [checkpoint, counted] = await zerc20.read('batchCount', [recipientHash, sender])
      const explained = sum(known.filter(({ leafIndex }) => leafIndex < checkpoint))
      expect(explained).toBeGreaterThanOrEqual(counted)
      const start = explained === counted ? checkpoint : 0
      const open = known
        .filter(({ leafIndex }) => leafIndex >= start && leafIndex < proved)
        .toSorted((one, other) => one.leafIndex - other.leafIndex)
      if (open.length === 0) return false
      const indices = open.map(({ leafIndex }) => leafIndex)
      const { count, end } = batchRange(indices, proved, { least: open.length, chance: 0.5 }, shape)
      const value = sum(open.slice(0, count))
      const batch = await toyBatch(chain, under(), { to: provider, tweak, value, start, end })
      await follow(() => zerc20.batchTeleport(batch, sender))
      return true
    },
    /** Anything that is true: some of the burns of any range that may be counted. */
    async countSome(sender: Address, draw: (below: number) => number) {
      const [checkpoint] = await zerc20.read('batchCount', [recipientHash, sender])
      const start = draw(2) === 0 ? 0 : checkpoint
      if (proved === 0 || start > proved) return
      const end = draw(2) === 0 ? proved : start + draw(proved - start + 1)
      const some = burns.filter(({ leafIndex }) => leafIndex >= start && leafIndex < end && draw(8) > 0)
      const claim = { to: provider, tweak, value: sum(some), start, end }
      const batch = await toyBatch(chain, under(), claim)
      await follow(() => zerc20.batchTeleport(batch, sender))
      // The same again, true as it is, has no place in the count any more.
      if (start === 0 || start === end) return
      expect(await zerc20.refusalOfBatch(batch, sender)).toBe('WrongStart')
    },
    async replaceVerifier() {
      zerc20 = await succeed(chain, zerc20, powBits)
      await zerc20.setRootVerifier(manyLeaves)
      proved = 0
    },
    async replaceBatchKey() {
      const { batch } = zerc20.proofVerifiers
      if (batch) await zerc20.asOwner('setBatchVerifier', [batch])
    },
    async revoke() {
      if (proved === 0) return
      await zerc20.asOwner('activateEmergency')
      await zerc20.asOwner('revokeRoot', [BigInt(proved)])
      await zerc20.asOwner('deactivateEmergency')
      proved = Number(await zerc20.read('latestProvedIndex'))
    },
  }
  return world
}

type World = Awaited<ReturnType<typeof createWorld>>

/** What can happen, and how often. */
const weights = {
  burn: 5,
  missed: 2,
  zero: 1,
  others: 1,
  find: 1,
  prove: 3,
  single: 1,
  count: 5,
  change: 1,
  some: 5,
  successor: 1,
  key: 1,
  revoke: 1,
}
type Kind = keyof typeof weights

const step = fc.record({
  kind: fc.oneof(
    ...Object.entries(weights).map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind as Kind) })),
  ),
  number: fc.nat({ max: 2 ** 30 }),
})

test('no order of burns, mints, senders, restarts and successors mints too much, and none strands a burn', {
  timeout: 600_000 + runs * runMs,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 50, size: 'max' }), async (steps) => {
      const world = await createWorld()
      let current = 0
      for (const { kind, number } of steps) {
        if (kind === 'change') current = 1 - current
        await play(world, kind, number, senders[current] ?? account(0))
        expect(await world.minted()).toBeLessThanOrEqual(world.burned())
        expect(await world.balance()).toBe(await world.minted())
      }
      // In the end all burns are known, and the sender of the day needs nobody else.
      world.find()
      await world.prove()
      const bound = 2 * world.burns.length + 2
      let proofs = 0
      while (await world.count(senders[current] ?? account(0))) {
        proofs += 1
        expect(proofs).toBeLessThanOrEqual(bound)
      }
      expect(await world.minted()).toBe(world.burned())
      expect(await world.balance()).toBe(world.burned())
    }),
    { numRuns: runs, endOnFailure: true },
  )
})

async function play(world: World, kind: Kind, number: number, sender: Address): Promise<unknown> {
  switch (kind) {
    case 'burn':
    case 'missed':
      return world.burn(1n + BigInt(number % 1000), kind === 'missed')
    case 'zero':
      return world.transferNothing()
    case 'others':
      return world.others()
    case 'prove':
      return world.prove()
    case 'single':
      return world.single(number)
    case 'some':
      return world.countSome(senders[2] ?? account(0), drawFrom(number))
    case 'find':
      return world.find()
    case 'successor':
      return world.replaceVerifier()
    case 'key':
      return world.replaceBatchKey()
    case 'revoke':
      return world.revoke()
    default:
      return world.count(sender)
  }
}

/** Numbers that follow from a seed. */
function drawFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % below
  }
}

function account(number: number): Hex {
  return numberToHex(number, { size: 20 })
}
