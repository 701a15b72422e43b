/** The memory of a daemon for a ledger that others write as well: it decides nothing by old rows. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { notRun, type PostgresServer, startPostgres } from '../../../../../test/support/postgres-server.js'
import { addressOf, burnOf, challengeOf, readyOf, selfTransferOf } from '../../../test/challenges.js'
import { openTestLedger } from '../../../test/open-ledger.js'
import type { Lease } from '../lease.js'

describe.skipIf(notRun() !== '')(`rows that are remembered${notRun()}`, () => {
  let server: PostgresServer
  let databases = 0
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.close())

  const challenge = challengeOf(1)
  const { nonce } = challenge
  const payload = selfTransferOf(challenge, 7)

  /** Two daemons. The first has issued a challenge, and remembers its rows. */
  async function openTwo(settings: { readonly openMax?: number } = {}) {
    databases += 1
    const database = `memory_${databases}`
    await server.run(`CREATE DATABASE ${database}`)
    const sleeps: (() => void)[] = []
    const sleep = (ms: number) => new Promise<void>((end) => (ms === 0 ? end() : sleeps.push(end)))
    const open = () =>
      openTestLedger({
        database: { url: server.url(database) },
        clock: { ...stoppedClock(), sleep },
        onFailure: () => undefined,
        ...settings,
      })
    const [first, second] = [await open(), await open()]
    await first.ledger.issue(challenge)
    return {
      first,
      second,
      endSleeps() {
        for (const end of sleeps.splice(0)) end()
      },
      run: (statements: string) => server.run(statements, database),
      close: () => Promise.all([first.close(), second.close()]),
    }
  }

  it('are not read again while nobody else writes', async () => {
    const { first, run, close } = await openTwo()
    // As if it had expired long ago.
    await run(`UPDATE payment SET record = replace(record, '${challenge.expiresAt}', '1')`)
    expect(await first.ledger.claim(nonce, payload)).toBe('claimed')
    await close()
  })

  it('are read again when another daemon wrote', async () => {
    const { first, second, run, close } = await openTwo()
    expect(await second.ledger.claim(nonce, selfTransferOf(challenge, 8))).toBe('claimed')
    expect(await first.ledger.claim(nonce, payload)).toBe('other_payload')
    expect(await second.ledger.accept(nonce, burnOf(8))).toBe('accepted')
    expect(await first.ledger.accept(nonce, burnOf(7))).toBe('already_accepted')
    expect(await run("SELECT count(*) FROM event WHERE kind = 'payment_claimed'")).toBe('1')
    await close()
  })

  it('do not hide a pause of issuance at another daemon, nor its end', async () => {
    const { first, second, close } = await openTwo()
    await second.ledger.setPause({ words: 'back at noon' })
    expect(await first.ledger.issue(challengeOf(2))).toEqual({ words: 'back at noon' })
    await first.ledger.setPause(undefined)
    expect(await second.ledger.issue(challengeOf(2))).toBe('issued')
    expect(await second.ledger.issue(challengeOf(3))).toBe('issued')
    await close()
  })

  it('are read again when another daemon forgot a challenge, which no event tells', async () => {
    const { first, second, close } = await openTwo()
    // The newest event stays.
    await first.ledger.issue(challengeOf(2))
    await second.store.change('forget', [1])
    expect(await first.ledger.claim(nonce, payload)).toBe('forgotten')
    await close()
  })

  it('are counted again when another daemon issued a challenge: no more are open than may be', async () => {
    const { first, second, close } = await openTwo({ openMax: 3 })
    expect(await second.ledger.issue(challengeOf(2))).toBe('issued')
    expect(await first.ledger.issue(challengeOf(3))).toBe('issued')
    expect(await second.ledger.issue(challengeOf(4))).toBe('limit')
    await close()
  })

  it('do not outlive a lease that another daemon has taken over', async () => {
    const { first, second, run, close } = await openTwo()
    const lease = (await first.store.leases.take('work')) as Lease
    const worker = first.under([lease]).ledger
    expect(await worker.claim(nonce, payload)).toBe('claimed')
    // Its holder was stopped for longer than its lease, and does not renew it.
    await run("UPDATE lease SET until_ms = 0, holder = 'stopped'")
    expect(await second.store.leases.take('work')).toBeDefined()
    await expect(worker.accept(nonce, burnOf(7))).rejects.toMatchObject({ code: 'lease_lost' })
    expect((await second.ledger.find(nonce))?.accepted).toBeUndefined()
    await close()
  })

  it("bind no account for a daemon whose lease is another one's by now", async () => {
    const { first, second, run, close } = await openTwo()
    const lease = (await first.store.leases.take('work')) as Lease
    // Its holder was stopped for longer than its lease, and does not renew it.
    await run("UPDATE lease SET until_ms = 0, holder = 'stopped'")
    await second.store.leases.take('work')
    const account = { address: addressOf(3), txNonce: 4 }
    await expect(first.under([lease]).bindAccount('relayer', account)).rejects.toMatchObject({
      code: 'lease_lost',
    })
    expect(await second.knownAccount('relayer')).toBeUndefined()
    await close()
  })

  it.each([
    [
      'lost its newest event, and has another one with its number',
      "UPDATE event SET record = record || ' ' WHERE seq = (SELECT applied FROM ledger)",
    ],
    ['was found to be an older copy', "UPDATE ledger SET state = 'copy'"],
    ['was moved', "UPDATE ledger SET state = 'moved to a file'"],
    ['has tables that this daemon is too old for', 'UPDATE ledger SET writers_from = 1000'],
  ])('do not hide that the ledger %s', async (_, change) => {
    const { first, run, close } = await openTwo()
    await run(change)
    await expect(first.ledger.claim(nonce, payload)).rejects.toMatchObject({ code: 'ledger_failed' })
    expect(await run("SELECT count(*) FROM event WHERE kind = 'payment_claimed'")).toBe('0')
    await close()
  })

  it('are forgotten when another daemon accepts a copy, in which they are in doubt', async () => {
    const { first, second, run, close } = await openTwo()
    await first.ledger.claim(nonce, payload)
    const kept = Number(await run('SELECT applied FROM ledger'))
    for (const seed of [2, 3]) await first.ledger.issue(challengeOf(seed))
    // A standby took over that lacks both. The first daemon hears of it beside its steps, when it takes a lease.
    await run(
      `DELETE FROM event WHERE seq > ${kept}; DELETE FROM payment WHERE id > 1; UPDATE ledger SET applied = ${kept}`,
    )
    await first.store.leases.take('one')
    expect(first.store.isOld?.()).toBe(true)
    // There are as many events again before the first daemon looks.
    await second.store.change('acceptCopy', 50)
    await second.ready.add(readyOf(challengeOf(4)))
    await second.ledger.issue(challengeOf(4))
    await first.store.leases.take('other')
    expect([first.store.isOld?.(), first.store.figures().records]).toEqual([false, kept + 2])
    expect(await first.ledger.accept(nonce, burnOf(7))).toBe('not_claimed')
    expect(await second.ledger.find(nonce)).toMatchObject({ late: { reason: 'unrecorded' } })
    await close()
  })
})
