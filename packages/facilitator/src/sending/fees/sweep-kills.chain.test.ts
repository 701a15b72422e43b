/** The real daemon is killed after each step of a sweep. Its fees must reach their recipient once, to the unit. */
import { developmentRoles } from '@svc-zerc20/devnet'
import { type Address, parseAddress } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { deriveSeed, seedFingerprint } from '@svc-zerc20/zk'
import { hexToBytes } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ask } from '../../../../../test/crash/support/client.js'
import { type CrashNetwork, startCrashNetwork } from '../../../../../test/crash/support/network.js'
import { until } from '../../../../../test/support/until.js'
import { feeChallenge, feeRecipient, finalizeWithFee, payWithFee } from '../../../test/fee-ledger.js'
import { openTestLedger } from '../../../test/open-ledger.js'

const { treasury } = developmentRoles
const addressFrom = (text: string) => parseAddress(text) as Address

let net: CrashNetwork
beforeAll(async () => {
  const fee = { bps: 50, min_per_payment: '0', charge_to: 'provider', recipient: feeRecipient }
  net = await startCrashNetwork({ config: { fee: { ...fee, sweep_interval_secs: 1 } } })
})
afterAll(() => net.close())

/** Writes finalized payments with these fees into the journal of the stopped daemon, and mints their amounts. */
async function earn(fees: readonly bigint[]): Promise<void> {
  const { chainId, token, permitBurner } = net.deployment
  const storage = await openTestLedger({
    journal: net.journal,
    binding: {
      chainId,
      token: addressFrom(token),
      helper: addressFrom(permitBurner),
      seed: seedFingerprint(deriveSeed(hexToBytes(treasury.privateKey))),
    },
    clock: systemClock,
  })
  for (const [i, fee] of fees.entries()) {
    const challenge = feeChallenge(1 + i, fee, { treasury: addressFrom(treasury.address) })
    await payWithFee(storage.ledger, challenge, i > 0)
    await finalizeWithFee(storage.ledger, challenge, 1n)
  }
  await storage.close()
  await net.faucet.mintTokens(treasury.address, 1_000n * BigInt(fees.length))
}

const recorded = (event: string) => net.records().filter((record) => record.event === event)
const waiting = () => net.client.getTransactionCount({ address: treasury.address, blockTag: 'pending' })
const feesOf = async () =>
  (await ask(net, '/admin/status'))?.body.fees as Record<string, Record<string, unknown>>

/** Polls quickly, because the kill must come before the daemon acts on the record. */
const atOnce = { everyMs: 2 }

it('killed after the record, after the broadcast, and after the end: one transfer, the same bytes, nothing more', async () => {
  await net.kill()
  await earn([7n, 11n, 13n])
  const before = await net.balanceOf(treasury.address)

  net.chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'hang', executed: false }])
  await net.restart()
  await until(() => recorded('sweep_signed').length > 0, atOnce)
  await net.kill()
  expect(await waiting()).toBe(0)
  const [signed] = recorded('sweep_signed')
  expect(signed).toMatchObject({ recipient: feeRecipient, amount: '31' })

  net.chain.setFaults([])
  await net.chain.pauseMining()
  await net.restart()
  await until(async () => (await waiting()) === 1)
  expect(await feesOf()).toMatchObject({ due: { payments: 0 }, underWay: { amount: '31', payments: 3 } })
  await net.kill()

  await net.chain.resumeMining()
  await net.restart()
  await until(() => recorded('sweep_ended').length > 0, atOnce)
  await net.kill()
  const [ended] = recorded('sweep_ended')
  expect(signed).toMatchObject({ transaction: { hash: ended?.txHash } })

  await net.restart()
  expect(await feesOf()).toMatchObject({
    due: { payments: 0, amount: '0' },
    swept: { sweeps: 1, payments: 3, amount: '31', last: { transaction: ended?.txHash } },
  })
  expect(await feesOf()).not.toHaveProperty('underWay')
  expect([await net.balanceOf(feeRecipient), await net.balanceOf(treasury.address)]).toEqual([
    31n,
    before - 31n,
  ])
  expect([await waiting(), recorded('sweep_signed').length]).toEqual([1, 1])
})
