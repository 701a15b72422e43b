/** A facilitator with a day's business: payments of a seller and of strangers, minted, waiting, late and refused. */
import { createHash } from 'node:crypto'
import { developmentRoles } from '@svc-zerc20/devnet'
import type { Hex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { startNetwork } from '../../../packages/facilitator/test/network.js'
import { bodyOf, type ChallengeOffer } from '../../../packages/facilitator/test/payment.js'
import { until } from '../../support/until.js'

const hourMs = 3_600_000
const sellerToken = 'a-token-that-a-seller-of-the-tests-has'

export type Operated = Awaited<ReturnType<typeof startOperated>>

export async function startOperated() {
  const net = await startNetwork({
    finalization: true,
    history: true,
    fee: { chargeTo: 'payer', isSplit: false },
    config: {
      daemon: { follow_interval_ms: 1_000 },
      sellers: [{ name: 'weather', token_sha256: createHash('sha256').update(sellerToken).digest('hex') }],
    },
  })
  try {
    return { ...net, ...(await doBusiness(net)) }
  } catch (error) {
    await net.close()
    throw error
  }
}

async function doBusiness(net: Awaited<ReturnType<typeof startNetwork>>) {
  const payer = privateKeyToAccount(developmentRoles.payer.privateKey)
  const another = await net.account({ tokens: 9_000_000n, gas: true })

  async function offerTo(seller: boolean, amount: string): Promise<ChallengeOffer> {
    const headers = seller ? { authorization: `Bearer ${sellerToken}` } : {}
    return (await net.post('/challenge', { amount }, headers)).body as ChallengeOffer
  }
  async function pay(account: PrivateKeyAccount, amount: string, { seller = true } = {}): Promise<Paid> {
    const offer = await offerTo(seller, amount)
    const { body } = await net.settle(bodyOf(offer, await net.permitFor(offer, account)))
    if (!body.success) throw new Error(`not paid: ${body.errorReason}`)
    return { nonce: offer.challengeNonce as Hex, burn: body.transaction as Hex, payTo: offer.payTo as Hex }
  }

  const minted = [
    await pay(payer, '250000'),
    await pay(payer, '250000'),
    await pay(another, '1200000', { seller: false }),
  ]
  await until(async () =>
    (await Promise.all(minted.map(({ nonce }) => net.phaseOf(nonce)))).every(
      (phase) => phase === 'finalized',
    ),
  )
  // Without an indexer no root covers what is burned from now on.
  const { indexer } = net.pids
  if (indexer === undefined) throw new Error('the network has no indexer')
  process.kill(indexer, 'SIGSTOP')
  const waiting = await pay(payer, '990000')
  net.clock.advance(-hourMs)
  const expired = await offerTo(true, '500000')
  net.clock.advance(hourMs)
  const late = await net.transfer(another, expired.payTo as Hex, expired.amount)
  const [first] = minted
  if (first) await net.transfer(another, first.payTo, 300n)
  await until(async () => {
    const { late: found, stuck } = (await net.admin('/late')).body as { late: unknown[]; stuck: unknown[] }
    return found.length > 0 && stuck.length > 0
  })
  const dear = await offerTo(true, '60000')
  const dust = await net.transfer(another, dear.payTo as Hex, 7n)
  await net.settle({ challengeNonce: dear.challengeNonce, burnTxHash: dust })
  const refused = await offerTo(true, '10000')
  const payload = await net.permitFor(refused, await net.account({ tokens: 1n }))
  const sent = {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${sellerToken}` },
  }
  await fetch(`${net.facilitatorUrl}/settle`, { ...sent, body: JSON.stringify(bodyOf(refused, payload)) })
  await fetch(`${net.facilitatorUrl}/admin/status`, { headers: { authorization: 'Bearer of-nobody' } })
  return {
    payer,
    minted,
    waiting,
    late,
    dust,
    resumeIndexer: () => process.kill(indexer, 'SIGCONT'),
    async close() {
      process.kill(indexer, 'SIGCONT')
      await net.close()
    },
  }
}

type Paid = { readonly nonce: Hex; readonly burn: Hex; readonly payTo: Hex }
