/** How a start continues from the journal. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../support/until.js'
import { ask, pay, prepare, present, requestOffer } from './support/client.js'
import { type CrashNetwork, startCrashNetwork } from './support/network.js'

let net: CrashNetwork

const recordsOf = (nonce: string, kind: string) =>
  net.records().filter((record) => record.event === kind && JSON.stringify(record).includes(nonce))

describe('a start', () => {
  beforeAll(async () => {
    net = await startCrashNetwork()
  })
  afterAll(() => net.close())

  it('fault 9 a reorg that takes an accepted burn while the daemon is down: the same bytes go out again', async () => {
    const payment = await prepare(net, await net.account())
    const { challengeNonce } = payment.offer
    const answer = await present(net, payment)
    expect(answer).toMatchObject({ success: true })
    await until(() => recordsOf(challengeNonce, 'grant_used').length > 0)
    await net.kill()
    await net.chain.pauseMining()
    const { transactions } = await net.chain.reorg(1, { keepTransactions: false })
    expect(transactions).toEqual([(answer as { transaction: string }).transaction])

    await net.restart()
    await until(() => recordsOf(challengeNonce, 'payment_demoted').length === 1)
    // Killed again while it waits for a block. The next run must continue all the same.
    await net.kill()
    await net.restart()
    await net.chain.resumeMining()
    await until(() => recordsOf(challengeNonce, 'payment_accepted').length === 2)
    const burns = (await net.relayedBurns()).filter(({ args }) => args.challengeNonce === challengeNonce)
    expect(burns.map(({ transactionHash }) => transactionHash)).toEqual(transactions)
    expect(await present(net, payment)).toMatchObject({ errorReason: 'already_accepted' })
  })

  it('fault 4 a torn last line of the journal is dropped with a warning; an earlier one stops the start with its number', async () => {
    const payment = await prepare(net, await net.account())
    expect(await present(net, payment)).toMatchObject({ success: true })
    await until(() => recordsOf(payment.offer.challengeNonce, 'grant_used').length > 0)
    await net.kill()
    const whole = readFileSync(net.journal, 'utf8')

    appendFileSync(net.journal, whole.split('\n')[0]?.slice(0, 50) ?? '')
    await net.restart()
    expect(net.run().output()).toMatch(/"level":40[^\n]*"event":"journal\.torn","bytes":50/)
    expect(await present(net, payment)).toMatchObject({ errorReason: 'already_accepted' })
    for (let count = 0; count < 3; count++) await requestOffer(net, '1000')
    await net.kill()

    const lines = readFileSync(net.journal, 'utf8').split('\n')
    const damaged = lines
      .map((line, i) => (i === 1 ? line.replace('"event":"', '"event":"x') : line))
      .join('\n')
    writeFileSync(net.journal, damaged)
    const refused = net.launch()
    expect(await refused.ended).toBe('1')
    expect(refused.output()).toContain(
      'fail settlement.journal: line 2 is damaged: its checksum does not match',
    )
    expect(readFileSync(net.journal, 'utf8')).toBe(damaged)
  })
})

describe('a start with settings of its own', () => {
  afterEach(() => net.close())

  it('accepts a self-transfer that became deep enough while the daemon was down, unasked', async () => {
    net = await startCrashNetwork({ config: { settlement: { confirmations: 3 } } })
    const payment = await prepare(net, await net.account({ gas: true }), 'self-transfer')
    const { challengeNonce } = payment.offer
    expect(await present(net, payment)).toMatchObject({ errorReason: 'pending_burn' })
    await net.kill()
    await net.chain.mine(3)
    await net.restart()
    expect((await ask(net, `/payments/${challengeNonce}`))?.body).toMatchObject({ phase: 'accepted' })
    expect(await present(net, payment)).toMatchObject({ success: true })
    expect(await present(net, payment)).toMatchObject({ errorReason: 'already_accepted' })
  })

  it('fault 8 a late burn is recorded, told to the payer, and kept through restarts whatever the retention', async () => {
    net = await startCrashNetwork({ config: { settlement: { challenge_ttl_seconds: 1 } } })
    const unpaid = await requestOffer(net, '1000')
    const account = await net.account({ gas: true })
    const offer = await requestOffer(net, '1000')
    const { challengeNonce } = offer
    const phase = async (nonce: string) => (await ask(net, `/payments/${nonce}`))?.body.phase
    await until(async () => (await phase(challengeNonce)) === 'expired')
    const payment = await pay(net, account, offer, 'self-transfer')
    const { burnTxHash } = (payment.body as { paymentPayload: { payload: { burnTxHash: string } } })
      .paymentPayload.payload

    const late = { success: false, errorReason: 'challenge_expired', transaction: burnTxHash }
    expect(await present(net, payment)).toMatchObject(late)
    expect(await present(net, payment)).toMatchObject(late)
    expect(recordsOf(challengeNonce, 'burn_late')).toHaveLength(1)
    await net.kill()

    const config = readFileSync(net.configFile, 'utf8')
    writeFileSync(
      net.configFile,
      config.replace(
        'challenge_ttl_seconds',
        'expired_challenge_retention_seconds = 0\nchallenge_ttl_seconds',
      ),
    )
    await net.restart()
    expect(await phase(unpaid.challengeNonce)).toBeUndefined()
    expect(await phase(challengeNonce)).toBe('expired')
    expect(await present(net, payment)).toMatchObject(late)
    expect(recordsOf(challengeNonce, 'burn_late')).toHaveLength(1)
  })
})

describe('R-071 SIGTERM while a settle waits', () => {
  afterEach(() => net.close())

  it('issuing stops at once, a second signal ends the daemon at once, and the next run finishes the burn', async () => {
    // Only the second signal can end the daemon in time: nothing is mined, and both bounds are ten minutes.
    net = await startCrashNetwork({
      config: { daemon: { shutdown_grace_ms: 600_000 }, settlement: { receipt_poll_ms: 600_000 } },
    })
    const payment = await prepare(net, await net.account())
    await net.chain.pauseMining()
    const answer = present(net, payment)
    await until(() => recordsOf(payment.offer.challengeNonce, 'burn_signed').length > 0)
    const issued = () => net.records().filter(({ event }) => event === 'challenge_issued').length
    const before = issued()

    net.run().signal('SIGTERM')
    await until(() => net.run().output().includes('facilitator.stopping'))
    const refused = await ask(net, '/challenge', { amount: '1000' })
    expect([undefined, 503]).toContain(refused?.status)
    expect(issued()).toBe(before)

    net.run().signal('SIGTERM')
    expect(await net.run().ended).toMatch(/0$/)
    expect(await answer).toBe('none')
    await net.restart()
    await net.chain.resumeMining()
    expect(await present(net, payment)).toMatchObject({ success: true })
  })
})
