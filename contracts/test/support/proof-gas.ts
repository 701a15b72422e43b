// Gas costs of roots, mints and aggregation. The proofs are for toy circuits, but verifying them costs the same gas.
import { type Hex, numberToHex } from 'viem'
import type { Transfer } from '../../index.js'
import type { Chain } from './chain.js'
import { toyBatch, toyMint, toyRootClaim } from './toy-claims.js'
import { toyKeys } from './toy-key.js'
import { deployZerc20 } from './zerc20.js'

/** Gas by what was done. The first mint of all also pays for a counter of the token that starts at zero. */
export async function measureProofs(chain: Chain): Promise<Record<string, number>> {
  const zerc20 = await deployZerc20(chain, await toyKeys(chain), 8)
  const transfers: Transfer[] = []
  const grow = async (count: number) => {
    for (let i = 0; i < count; i += 1)
      transfers.push(await zerc20.mint(address(transfers.length), 1_000_000n))
  }
  const gas: Record<string, number> = {}
  const record = (what: string, { gasUsed }: { gasUsed: bigint }) => {
    gas[what] = Number(gasUsed)
  }

  await grow(13)
  record('reserveHashChain', await zerc20.reserve())
  const first = await toyRootClaim(chain, zerc20, { transfers, batch: 16, from: 0 })
  record('proveTransferRoot of 13 transfers', await zerc20.proveRoot(first))
  await grow(51)
  await zerc20.reserve()
  const second = await toyRootClaim(chain, zerc20, { transfers, batch: 64, from: 13 })
  await zerc20.proveRoot(second)
  await grow(59)
  await zerc20.reserve()
  const third = await toyRootClaim(chain, zerc20, { transfers, batch: 64, from: 64 })
  record('proveTransferRoot of 59 transfers', await zerc20.proveRoot(third))

  for (const [tweak, [what, to]] of [
    ['first singleTeleport', address(8_888)] as const,
    ['singleTeleport to a fresh address', address(9_999)] as const,
    ['singleTeleport to a known address', address(9_999)] as const,
  ].entries()) {
    const under = { isGlobal: false, rootHint: BigInt(transfers.length), root: third.newRoot }
    record(what, await zerc20.singleTeleport(await toyMint(chain, under, { to, tweak, value: 1_000_000n })))
  }
  // The first batch of an epoch also pays for its count, which starts at zero. The provider has been paid before.
  for (const [what, start, end] of [
    ['first batchTeleport of an epoch', 0, 100],
    ['batchTeleport that goes on', 100, transfers.length],
  ] as const) {
    const under = { rootHint: BigInt(transfers.length), root: third.newRoot }
    const batch = { to: address(9_999), tweak: 99, value: 30_000_000n, start, end }
    record(what, await zerc20.batchTeleport(await toyBatch(chain, under, batch)))
  }
  record('relayTransferRoot', await zerc20.relay())
  record('broadcast', await zerc20.broadcast())
  return gas
}

function address(counter: number): Hex {
  return numberToHex(2n ** 159n + BigInt(counter + 1) * 0x1_0001n ** 7n, { size: 20 })
}
