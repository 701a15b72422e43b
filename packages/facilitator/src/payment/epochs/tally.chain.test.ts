/** Batch mints on a chain: through a change of the mode, restarts, another sender and a decider. */
import { cpSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { verifierAbi } from '@svc-zerc20/contracts'
import { developmentRoles } from '@svc-zerc20/devnet'
import { getAddress, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { startOwnFacilitator } from '../../../test/own-facilitator.js'
import { bodyOf, type ChallengeOffer } from '../../../test/payment.js'

const { treasury, minter } = developmentRoles
const hourMs = 3_600_000

let net: TestNetwork
let payer: PrivateKeyAccount
let others: readonly PrivateKeyAccount[]
let before: bigint
let burned = 0n
beforeAll(async () => {
  net = await startNetwork({ finalization: true, batch: true, decider: true, waitsForAddress: false })
  payer = await net.account({ gas: true })
  others = [await net.account({}), await net.account({})]
  before = await net.balanceOf(treasury.address)
})
afterAll(() => net.close())

type Own = Awaited<ReturnType<typeof startOwnFacilitator>>

const batches = (least: number) => ({
  mode: 'batch',
  batch_least: least,
  batch_wait_max_ms: hourMs,
  batch_jitter_ms: 0,
  epoch_seconds: 31_536_000,
})

const start = (
  finalize: object,
  env: Record<string, string> = {},
  { journal = 'epochs.jsonl' }: { journal?: string } = {},
  network: { decider_url?: string } = {},
) =>
  startOwnFacilitator(net, {
    journal,
    env,
    config: {
      finalize: { ...finalize },
      daemon: { follow_interval_ms: 1_000 },
      settlement: { min_amount: '1' },
      network,
    },
  })

async function pay(own: Own, amount: bigint, from = payer): Promise<ChallengeOffer> {
  const offer = await own.challenge(`${amount}`)
  const settled = await own.post('/settle', bodyOf(offer, await net.permitFor(offer, from)))
  expect(settled).toMatchObject({ success: true })
  burned += amount
  return offer
}

type Recorded = { phase: string; mint?: { txHash?: Hex; transaction?: Hex }; waiting?: { reason: string } }
const recorded = async (own: Own, { challengeNonce }: ChallengeOffer) =>
  (await own.admin(`/payments/${challengeNonce}`)).payment as Recorded

async function untilFinalized(own: Own, offers: readonly ChallengeOffer[]): Promise<void> {
  for (const offer of offers) {
    await until(async () => (await recorded(own, offer)).phase === 'finalized', {
      everyMs: 500,
    })
  }
}

const counted = async () =>
  (
    await net.client.getContractEvents({
      address: net.deployment.verifier,
      abi: verifierAbi,
      fromBlock: 0n,
      eventName: 'BatchCounted',
    })
  ).map(({ args }) => args)

const received = async () => (await net.balanceOf(treasury.address)) - before

describe('payments of an epoch, on a chain', () => {
  it('outlive a restart and a change of the mode in the middle of their epoch', async () => {
    const batch = await start(batches(30))
    const waiting = [await pay(batch, 310_031n), await pay(batch, 77n, others[0])]
    await batch.close()
    const single = await start({ ...batches(2), mode: 'single', delay_max_ms: 0 })
    try {
      const other = await pay(single, 501n)
      await untilFinalized(single, [...waiting, other])
      expect(await counted()).toMatchObject([{ start: 0, counted: 310_108n }])
      expect(await received()).toBe(burned)
    } finally {
      await single.close()
    }
  })

  it('are minted from another account, which counts the whole epoch again', async () => {
    const own = await start(batches(30))
    const waiting = [await pay(own, 41n), await pay(own, 43n, others[0])]
    await own.close()
    const other = await start(batches(2), { SVC_MINTER_PK: minter.privateKey })
    await untilFinalized(other, waiting).finally(other.close)
    expect(await received()).toBe(burned)
    // The new sender counted from zero, and minted what was new.
    expect((await counted()).at(-1)).toMatchObject({
      submitter: getAddress(minter.address),
      start: 0,
      counted: 310_108n + 41n + 43n,
    })
  })

  it('R-008 R-114 are minted as one sum, without a transfer that a stranger sends to one of their addresses, also beside another ledger of the same treasury key', async () => {
    const decider = { SVC_DECIDER_TOKEN: net.deciderToken ?? '' }
    const own = await start(batches(3), decider, { journal: 'other.jsonl' })
    try {
      const countedBefore = await counted()
      const first = await pay(own, 1_003n)
      await net.transfer(payer, first.payTo, 17n)
      const second = await pay(own, 250_007n, others[0])
      await until(async () => (await recorded(own, second)).waiting?.reason === 'gathering')
      expect(await counted()).toEqual(countedBefore)
      const third = await pay(own, 9_999n, others[1])
      await untilFinalized(own, [first, second, third])
      // Less than the other ledger has minted for the epoch of the same second, and minted all the same.
      expect((await counted()).slice(countedBefore.length)).toMatchObject([{ start: 0, counted: 261_009n }])
      expect(own.reported('batch.foreign')).toEqual([])
      expect(await received()).toBe(burned)
      const mints = await Promise.all([first, second, third].map((offer) => recorded(own, offer)))
      expect(new Set(mints.map(({ mint }) => JSON.stringify(mint?.txHash ?? mint?.transaction))).size).toBe(1)
      expect(own.reported('batch.proving')).toMatchObject([{ payments: 3, others: 0 }])
      expect(own.reported('decider.proved')).toHaveLength(1)
      expect(own.reported('decider.failed')).toEqual([])
    } finally {
      await own.close()
    }
  })

  it('that a copy of the journal counted elsewhere are named by the next start', async () => {
    const first = await start(batches(30), {}, { journal: 'first.jsonl' })
    await first.challenge('9')
    await first.close()
    const copied = readdirSync(net.directory).filter((name) => name.startsWith('first.jsonl'))
    for (const name of copied) {
      const from = join(net.directory, name)
      cpSync(from, join(net.directory, name.replace('first', 'second')), { recursive: true })
    }
    const second = await start(batches(1), { SVC_RELAYER_PK: minter.privateKey }, { journal: 'second.jsonl' })
    await untilFinalized(second, [await pay(second, 7n)]).finally(second.close)
    const who = getAddress(minter.address)
    const again = await start(batches(30), {}, { journal: 'first.jsonl' })
    try {
      await until(() => again.reported('batch.foreign').length > 0)
      expect(again.reported('batch.foreign')).toMatchObject([{ value: 7n, submitter: who }])
    } finally {
      await again.close()
    }
  })

  it('wait for a decider, which the status names', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const own = await start(
      batches(1),
      { SVC_DECIDER_TOKEN: net.deciderToken ?? '' },
      { journal: 'decider.jsonl' },
      { decider_url: `http://127.0.0.1:${port}` },
    )
    try {
      await pay(own, 3n)
      const decider = await until(async () => {
        const { mints } = (await own.admin('/status')) as { mints: { decider?: unknown } }
        return mints.decider
      })
      expect(decider).toEqual({ since: expect.any(Number) })
    } finally {
      await own.close()
      silent.closeAllConnections()
      silent.close()
    }
  })
})
