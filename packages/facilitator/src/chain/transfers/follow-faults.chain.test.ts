/** Transfers are followed whatever a reorg does. Nothing is minted here. */
import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { restoreBackup } from '../../../test/ledger-files.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { startOwnFacilitator } from '../../../test/own-facilitator.js'
import { bodyOf } from '../../../test/payment.js'
import { backUp } from '../../store/backup.js'

const hourMs = 3_600_000

let net: TestNetwork
let payer: PrivateKeyAccount
beforeAll(async () => {
  net = await startNetwork()
  payer = await net.account({ gas: true })
})
afterAll(() => net.close())

let journals = 0
async function withOwn(
  task: (own: Awaited<ReturnType<typeof startOwnFacilitator>>) => Promise<void>,
  settlement: Record<string, unknown> = {},
): Promise<void> {
  journals += 1
  const own = await startOwnFacilitator(net, {
    journal: `own-${journals}.jsonl`,
    config: {
      daemon: { follow_interval_ms: 1_000 },
      zerc20: { pool_size: 4 },
      settlement,
    },
  })
  try {
    await task(own)
  } finally {
    await own.close()
  }
}

/** An offer of an hour ago, paid now, that nobody presents; resolves once it was found. */
async function payLate(own: Parameters<Parameters<typeof withOwn>[0]>[0], amount: string) {
  own.clock.advance(-hourMs)
  const offer = await own.challenge(amount)
  own.clock.advance(hourMs)
  const txHash = await net.transfer(payer, offer.payTo, amount)
  await until(() => own.events.some((told) => told.event === 'burn.late' && told.txHash === txHash))
  return { offer, txHash }
}

describe('a transfer', () => {
  it('is accepted when it was presented in time, though its payer never came back', async () => {
    const confirmed = async (own: Parameters<Parameters<typeof withOwn>[0]>[0]) => {
      const offer = await own.challenge('250')
      const burnTxHash = await net.transfer(payer, offer.payTo, '250')
      const { challengeNonce } = offer
      const settled = await own.post('/settle', bodyOf(offer, { challengeNonce, burnTxHash }))
      expect(settled).toMatchObject({ success: false, errorReason: 'pending_burn' })
      await net.chain.mine()
      await net.chain.mine()
      await until(() => own.reported('payment.accepted').length > 0)
      expect(own.reported('payment.accepted')).toMatchObject([{ challengeNonce, txHash: burnTxHash }])
    }
    await withOwn(confirmed, { confirmations: 3 })
  })

  it('that was accepted behind a backup is found again by the addresses that the backup knows', async () => {
    const journal = 'lost.jsonl'
    const config = {
      daemon: { follow_interval_ms: 1_000 },
      zerc20: { pool_size: 4 },
    }
    const first = await startOwnFacilitator(net, { journal, config })
    const offer = await first.challenge('310')
    const { challengeNonce } = offer
    const backup = `${net.directory}/lost.backup`
    backUp(`${net.directory}/${journal}`, backup)
    const burnTxHash = await net.transfer(payer, offer.payTo, '310')
    const settled = await first.post('/settle', bodyOf(offer, { challengeNonce, burnTxHash }))
    expect(settled).toMatchObject({ success: true })
    // Followed past it.
    await payLate(first, '320')
    await first.close()
    restoreBackup(`${net.directory}/${journal}`, backup)
    // The offer is over, and nobody can present its burn any more.
    first.clock.advance(hourMs)

    const second = await startOwnFacilitator(net, {
      journal,
      config,
      clock: first.clock,
    })
    try {
      const found = await until(() =>
        second.reported('burn.found').find((told) => 'txHash' in told && told.txHash === burnTxHash),
      )
      expect(found).toMatchObject({ challengeNonce, value: 310n })
      // Who was served behind the backup is served no second time.
      const again = await second.post('/settle', bodyOf(offer, { challengeNonce, burnTxHash }))
      expect(again).toMatchObject({ success: false })
    } finally {
      await second.close()
    }
  })

  it('below what is worth a mint is kept and shown, and costs no mint', async () => {
    const dust = async (own: Parameters<Parameters<typeof withOwn>[0]>[0]) => {
      own.clock.advance(-hourMs)
      const offer = await own.challenge('1000')
      own.clock.advance(hourMs)
      await net.transfer(payer, offer.payTo, '9')
      const stuck = await until(async () => ((await own.admin('/late')).stuck as { stuck: string }[])[0])
      expect(stuck).toMatchObject({ challengeNonce: offer.challengeNonce, stuck: '9' })
      expect(own.reported('burn.found')).toEqual([])
      expect(await own.admin('/late')).toMatchObject({ late: [] })
    }
    await withOwn(dust, { min_amount: '10' })
  })

  it('that a reorg took is given up for the one that came in its stead', async () => {
    await withOwn(async (own) => {
      const { offer, txHash } = await payLate(own, '800')
      await reorgAway(txHash)
      const again = await net.transfer(payer, offer.payTo, '800')
      expect(again).not.toBe(txHash)
      await until(async () => {
        const { late } = (await own.admin('/late')) as { late: { late: { transaction: Hex } }[] }
        return late[0]?.late.transaction === again
      })
      expect(own.reported('follow.reorged').length).toBeGreaterThan(0)
      expect(own.reported('burn.late')).toHaveLength(1)
    })
  })
})

/** Replaces everything from a transaction's block on by empty blocks. */
async function reorgAway(txHash: Hex): Promise<void> {
  const { blockNumber } = await net.client.getTransactionReceipt({ hash: txHash })
  const head = await net.client.getBlockNumber()
  const { transactions } = await net.chain.reorg(Number(head - blockNumber) + 1)
  expect(transactions).toContain(txHash)
}
