// The way out of a forged root, step by step as docs/guides/forged-root.md tells it, against an attacker who acts between
// any two steps. The keys are toys: whoever knows their secret can prove anything, as after a setup that was not destroyed.
import { emptyRoots, hash2, hubHeight } from '@svc-zerc20/zk'
import { type Hex, numberToHex } from 'viem'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { keyArgument, rootVerifierAbi, rootVerifierBytecode, type Transfer } from '../index.js'
import { type Chain, startChain } from './support/chain.js'
import { toyMint, toyRootClaim } from './support/toy-claims.js'
import { toyKey, toyKeys } from './support/toy-key.js'
import { deployZerc20, type Zerc20 } from './support/zerc20.js'

const value = 1_000_000n
const thief = account(666)
const provider = account(1)
/** Roots under which the thief's burn, which never happened, has a place. */
const forged = 0xf0f0f0n
const forgedLater = 0xf1f1f1n

let chain: Chain
let zerc20: Zerc20
let transfers: Transfer[]

beforeAll(async () => {
  chain = await startChain()
})

// An honest root is proved, relayed and broadcast as number 1. Then the attacker forges a root.
beforeEach(async () => {
  zerc20 = await deployZerc20(chain, await toyKeys(chain), 8)
  transfers = []
  await proveTo(3)
  await zerc20.relay()
  await zerc20.broadcast()
  await proveTo(5, forged)
  await zerc20.relay()
})

test('a forged root that the hub got is gone from everywhere once it is revoked, and stays away', async () => {
  await proveTo(7, forgedLater)
  await zerc20.relay()
  await followRunbook({ revoke: [7n, 5n], between: async () => void (await zerc20.broadcast([])) })
})

test('so is one that was broadcast before anybody noticed', async () => {
  await zerc20.broadcast()
  expect(await stolenBy({ isGlobal: true, rootHint: 2n, root: aggregate(forged) })).toBeUndefined()
  await proveTo(7, forgedLater)
  await followRunbook({ revoke: [7n, 5n], between: async () => void (await zerc20.broadcast([])) })
})

test('so is one that the attacker aggregates only after the roots were revoked and the pause is over', async () => {
  await followRunbook({ revoke: [5n], between: async () => undefined })
})

/** The steps of the guide; the attacker acts after each, and must never find a root to mint under. */
async function followRunbook({ revoke, between }: { revoke: bigint[]; between: () => Promise<void> }) {
  await zerc20.asOwner('activateEmergency')
  await between()
  expect(await zerc20.refusalOfBroadcast()).toBe('EnforcedPause')

  await zerc20.asOwner('removeAllowedProver', [chain.operator.address])
  const otherKey = keyArgument(await toyKey(chain, 6))
  await zerc20.setRootVerifier(await chain.deploy(rootVerifierAbi, rootVerifierBytecode, [otherKey, 16]))
  await between()

  for (const index of revoke) {
    await zerc20.asOwner('revokeRoot', [index])
    await between()
  }
  expect(await zerc20.hubLeaf()).toBe(0n)
  expect(await zerc20.read('latestProvedIndex')).toBe(3n)

  await zerc20.asOwner('deactivateEmergency')
  await between()
  await zerc20.broadcast()
  await expectNothingToSteal()
  await zerc20.relay()
  await zerc20.broadcast()
  await expectNothingToSteal()

  // The right roots take the place of the forged ones, and burns are minted again, under either kind of root.
  await zerc20.asOwner('setAllowedProver', [chain.operator.address])
  const root = await proveTo(transfers.length)
  await zerc20.relay()
  await zerc20.broadcast()
  await expectNothingToSteal()
  const local = { isGlobal: false, rootHint: BigInt(transfers.length), root }
  const global = { isGlobal: true, rootHint: await zerc20.aggSeq(), root: aggregate(root) }
  await zerc20.singleTeleport(await toyMint(chain, local, { to: provider, tweak: 1, value }))
  await zerc20.singleTeleport(await toyMint(chain, global, { to: provider, tweak: 2, value }))
  expect(await zerc20.balanceOf(provider)).toBe(2n * value)
}

/** Under every root that ever was, local or of the hub. */
async function expectNothingToSteal() {
  const refused = ['ExpectedRootZero', 'TransferRootMismatch']
  for (const root of [forged, forgedLater]) {
    for (let index = 0n; index <= 8n; index += 1n) {
      expect(refused).toContain(await stolenBy({ isGlobal: false, rootHint: index, root }))
    }
    for (let aggSeq = 0n; aggSeq <= (await zerc20.aggSeq()) + 1n; aggSeq += 1n) {
      const under = { isGlobal: true, rootHint: aggSeq, root: aggregate(root) }
      expect(refused, `global root ${aggSeq}`).toContain(await stolenBy(under))
    }
  }
}

/** Name of the error that a mint of nothing burned is refused with; undefined when it is not. */
async function stolenBy(under: { isGlobal: boolean; rootHint: bigint; root: bigint }) {
  return zerc20.refusalOfMint(await toyMint(chain, under, { to: thief, tweak: 0, value: 10n ** 20n }))
}

/** Grows the token and proves a root over all of it, continuing the latest; any root, under these keys. */
async function proveTo(size: number, newRoot = 2n ** 252n + BigInt(size)): Promise<bigint> {
  while (transfers.length < size) {
    transfers.push(await zerc20.mint(account(1000 + transfers.length), value))
  }
  await zerc20.reserve()
  const from = Number(await zerc20.read('latestProvedIndex'))
  await zerc20.proveRoot(await toyRootClaim(chain, zerc20, { transfers, batch: 16, from, newRoot }))
  return newRoot
}

/** The token stands first at the hub and is alone there: all its siblings are empty. */
function aggregate(leaf: bigint): bigint {
  return emptyRoots()
    .slice(0, hubHeight)
    .reduce((node, sibling) => hash2(node, sibling), leaf)
}

function account(number: number): Hex {
  return numberToHex(number, { size: 20 })
}
