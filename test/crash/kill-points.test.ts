/** Kills the daemon at a known point and restarts it on its journal: nothing may be lost or done twice. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../support/until.js'
import { ask, prepare, present, presentUntilAnswered } from './support/client.js'
import { type CrashNetwork, startCrashNetwork } from './support/network.js'

let net: CrashNetwork
beforeAll(async () => {
  net = await startCrashNetwork()
})
afterAll(() => net.close())

const eventsOf = (nonce: string) =>
  net
    .records()
    .filter((record) => JSON.stringify(record).includes(nonce))
    .map(({ event }) => event)

/** Polls quickly, because the kill must come before the daemon acts on the record. */
const atOnce = { everyMs: 2 }

const hasRecord = (event: string, nonce: string) => () => eventsOf(nonce).includes(event)

async function burnsOf(nonce: string) {
  return (await net.relayedBurns()).filter(({ args }) => args.challengeNonce === nonce)
}

describe('killed with a burn under way', () => {
  it('fault 1 between signing and broadcasting: the same transaction is broadcast by the next run', async () => {
    const payment = await prepare(net, await net.account())
    const nonce = payment.offer.challengeNonce
    const [mined, waiting] = [await net.relayerCount('latest'), await net.relayerCount('pending')]
    net.chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'hang', executed: false }])
    const answer = present(net, payment)
    await until(hasRecord('burn_signed', nonce), atOnce)
    await net.kill()
    expect(await answer).toBe('none')
    expect([await net.relayerCount('latest'), await net.relayerCount('pending')]).toEqual([mined, waiting])
    const signed = net.records().findLast(({ event }) => event === 'burn_signed')?.transaction

    net.chain.setFaults([])
    await net.restart()
    // Nobody presents the payment again: the daemon finishes it by itself.
    await until(hasRecord('payment_accepted', nonce))
    const burns = await burnsOf(nonce)
    expect(burns.map(({ transactionHash }) => transactionHash)).toEqual([(signed as { hash: string }).hash])
    expect(await presentUntilAnswered(net, payment)).toMatchObject({
      success: true,
      transaction: burns[0]?.transactionHash,
    })
    expect(await net.relayerCount('latest')).toBe(mined + 1)
  })

  it.each([
    { when: 'after', minedWhileDown: false },
    { when: 'while', minedWhileDown: true },
  ])(
    'fault 2 between broadcast and receipt: the burn that is mined $when the daemon was down is found',
    async ({ minedWhileDown }) => {
      const payment = await prepare(net, await net.account())
      const mined = await net.relayerCount('latest')
      await net.chain.pauseMining()
      const answer = present(net, payment)
      await until(async () => (await net.relayerCount('pending')) > mined)
      await net.kill()
      expect(await answer).toBe('none')
      if (minedWhileDown) await net.chain.resumeMining()
      await net.restart()
      const settled = presentUntilAnswered(net, payment)
      if (!minedWhileDown) await net.chain.resumeMining()
      expect(await settled).toMatchObject({ success: true })
      expect(await burnsOf(payment.offer.challengeNonce)).toHaveLength(1)
      expect(await net.relayerCount('pending')).toBe(mined + 1)
    },
  )

  it('fault 3 between receipt and response: the payment is accepted, and the re-sent payload is told so', async () => {
    const payment = await prepare(net, await net.account())
    const nonce = payment.offer.challengeNonce
    await net.chain.pauseMining()
    // The caller leaves before the burn is mined, so that the response cannot be written.
    const caller = new AbortController()
    const gone = fetch(`${net.url()}/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(payment.body),
      signal: caller.signal,
    }).catch(() => 'gone')
    await until(hasRecord('burn_signed', nonce))
    caller.abort()
    expect(await gone).toBe('gone')
    await net.chain.resumeMining()
    await until(hasRecord('payment_accepted', nonce))
    await net.kill()
    await net.restart()
    expect((await ask(net, `/payments/${nonce}`))?.body).toMatchObject({ phase: 'accepted' })
    const first = await present(net, payment)
    expect(first).toMatchObject({ success: true, extra: { phase: 'accepted' } })
    expect(await present(net, payment)).toMatchObject({ success: false, errorReason: 'already_accepted' })
    expect(await burnsOf(nonce)).toHaveLength(1)
  })
})

describe('killed as soon as a record is on the disk', () => {
  /** Faults 1 and 3 are kills after the signed burn and after the acceptance. */
  const kinds = ['challenge_issued', 'payment_claimed', 'grant_used']

  it.each(kinds)('%s: a relayed payment ends with one burn and one grant', async (kind) => {
    const account = await net.account()
    const before = net.records().filter(({ event }) => event === kind).length
    const isRecorded = () => net.records().filter(({ event }) => event === kind).length > before
    const killed = until(isRecorded, atOnce).then(() => net.kill())
    const buying = prepare(net, account).then(async (payment) => ({
      payment,
      end: await presentUntilAnswered(net, payment),
    }))
    await killed
    await net.restart()
    const { payment, end } = await buying
    const { challengeNonce } = payment.offer
    expect(end.success || end.errorReason === 'already_accepted').toBe(true)
    expect(await burnsOf(challengeNonce)).toHaveLength(1)
    expect(await net.balanceOf(account.address)).toBe(999_000n)
    expect(payment.answers.filter((answer) => answer !== 'none' && answer.success).length).toBeLessThan(2)
  })

  it.each(['payment_claimed', 'payment_accepted'])(
    '%s: a self-transfer ends with one grant',
    async (kind) => {
      const account = await net.account({ gas: true })
      const payment = await prepare(net, account, 'self-transfer')
      const { challengeNonce } = payment.offer
      const killed = until(hasRecord(kind, challengeNonce), atOnce).then(() => net.kill())
      const presented = presentUntilAnswered(net, payment)
      await killed
      await net.restart()
      const end = await presented
      expect(end.success || end.errorReason === 'already_accepted').toBe(true)
      expect(eventsOf(challengeNonce).filter((event) => event === 'payment_accepted').length).toBeLessThan(2)
      expect(await net.balanceOf(account.address)).toBe(999_000n)
    },
  )

  it('claim_released: a burn that failed leaves its challenge payable after the restart', async () => {
    const account = await net.account({ gas: true })
    const payment = await prepare(net, account)
    const { challengeNonce } = payment.offer
    // The payer's tokens leave in the same block, before the burn.
    await net.chain.pauseMining()
    const drained = net.transfer(account, '0x000000000000000000000000000000000000dEaD', 1_000_000n)
    await until(async () => (await net.client.getTransactionCount({ ...account, blockTag: 'pending' })) === 1)
    const waiting = await net.relayerCount('pending')
    const answer = present(net, payment)
    await until(async () => (await net.relayerCount('pending')) > waiting)
    const killed = until(hasRecord('claim_released', challengeNonce), atOnce).then(() => net.kill())
    await net.chain.resumeMining()
    await Promise.all([killed, drained, answer])
    await net.restart()
    // The payer's wait after a failed burn is noted behind the release: where the kill came after it, it is waited out.
    await until(async () => (await presentUntilAnswered(net, payment)).errorReason !== 'payer_must_wait')
    expect(await presentUntilAnswered(net, payment)).toMatchObject({
      success: false,
      errorReason: 'insufficient_funds',
    })
    await net.faucet.mintTokens(account.address, 1_000n)
    expect(await presentUntilAnswered(net, payment)).toMatchObject({ success: true })
    expect(await burnsOf(challengeNonce)).toHaveLength(1)
  })
})

describe('restarted', () => {
  it('fault 7 open challenges are still payable, in both ways, and an accepted one is still refused', async () => {
    const [one, two, three] = [await net.account(), await net.account({ gas: true }), await net.account()]
    const accepted = await prepare(net, one)
    expect(await present(net, accepted)).toMatchObject({ success: true })
    await until(hasRecord('grant_used', accepted.offer.challengeNonce))
    const transferred = await prepare(net, two, 'self-transfer')
    const signed = await prepare(net, three)
    await net.kill()
    await net.restart()
    expect((await ask(net, '/verify', signed.body))?.body).toMatchObject({ isValid: true })
    expect(await present(net, transferred)).toMatchObject({ success: true })
    expect(await present(net, signed)).toMatchObject({ success: true })
    expect((await ask(net, '/verify', accepted.body))?.body).toMatchObject({
      isValid: false,
      invalidReason: 'already_accepted',
    })
    const again = await present(net, accepted)
    expect(again).toMatchObject({ success: false, errorReason: 'already_accepted' })
    expect(again).toHaveProperty('transaction', (accepted.answers[0] as { transaction: string }).transaction)
  })

  it('fault 6 a second daemon on the journal refuses to start, and the first goes on', async () => {
    const first = net.run()
    const second = net.launch()
    expect(await second.ended).not.toBe('0')
    expect(second.output()).toContain(`in use by another daemon (process ${first.pid})`)
    expect((await ask(net, '/supported'))?.status).toBe(200)
    first.signal('SIGKILL')
    await first.ended
  })
})
