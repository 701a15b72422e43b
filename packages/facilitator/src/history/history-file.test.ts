import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { until } from '../../../../test/support/until.js'
import { addressOf, burnOf, challengeOf, permitPayloadOf, readyOf, units } from '../../test/challenges.js'
import { temporaryFolder } from '../../test/folder.js'
import { openTestStore, type TestStore } from '../../test/store.js'
import { backUp } from '../store/backup.js'
import { readHistoryEnd } from '../store/steps/operator-steps.js'
import { openHistoryFile } from './history-file.js'

const binding = { chainId: 31337, token: addressOf(7) }

const open = (path: string, { store }: TestStore, changes = {}, isForgotten = false) =>
  openHistoryFile({
    path,
    binding: { ...binding, ...changes },
    store,
    isForgotten,
    clock: {
      now: () => Date.now(),
      sleep: (ms, signal) => new Promise((end) => setTimeout(end, ms, signal?.aborted)),
    },
    onFailure: (err) => {
      throw err
    },
    limits: { historyPauseMs: 5, historyRetryMs: 5 },
  })

const linesIn = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

describe('the history as a file', () => {
  it('has every turn once and in order, without payloads, and goes on behind its last whole line', async () => {
    const path = join(temporaryFolder(), 'history.jsonl')
    const store = await openTestStore()
    const { ledger } = store
    const [first, second] = [challengeOf(1), challengeOf(2)]
    await ledger.issue(first)
    await ledger.claim(first.nonce, permitPayloadOf(first))
    await ledger.accept(first.nonce, burnOf(1))
    const file = await open(path, store)
    await until(() => linesIn(path).length === 3)
    await ledger.finalize(first.nonce, { value: units(1000n) }, units(1000n))
    await file.close()
    // A crash tore the last line.
    truncateSync(path, readFileSync(path).length - 5)
    await ledger.recordLate(second, burnOf(2), 'late')
    const again = await open(path, store)
    expect(again.tornBytes).toBeGreaterThan(0)
    await again.close()
    const lines = linesIn(path)
    expect(lines.map(({ event }) => event)).toEqual([
      'history_bound',
      'challenged',
      'accepted',
      'finalized',
      'challenged',
      'late',
    ])
    expect(lines.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6])
    expect(lines[5]).toMatchObject({ challengeNonce: second.nonce, reason: 'late', burn: { value: '1000' } })
    expect(readFileSync(path, 'utf8')).not.toContain('burnAuthSig')
    await store.close()
  })

  it('is not mixed with the history of another token or ledger, but of ledgers in memory there is one after the other', async () => {
    const path = join(temporaryFolder(), 'history.jsonl')
    const store = await openTestStore()
    await (await open(path, store)).close()
    await expect(open(path, store, { token: addressOf(8) })).rejects.toThrow('another token or ledger')
    const other = await openTestStore()
    await expect(open(path, other)).rejects.toThrow('another token or ledger')
    await other.ledger.issue(challengeOf(1))
    await (await open(path, other, {}, true)).close()
    await (await open(path, other, {}, true)).close()
    expect(linesIn(path).map(({ event }) => event)).toEqual(['history_bound', 'history_bound', 'challenged'])
    await other.close()
    await store.close()
  })

  it('is read by a start only behind the place that the ledger remembers, unless it is another file', async () => {
    const path = join(temporaryFolder(), 'history.jsonl')
    const store = await openTestStore()
    const issue = (n: number) => store.ledger.issue(challengeOf(n))
    const write = async () => (await open(path, store)).close()
    for (const n of [1, 2]) await issue(n)
    await write()
    const text = readFileSync(path, 'utf8')
    // A reader of the second line would stop at it.
    const second = text.indexOf('\n') + 1
    writeFileSync(path, `${text.slice(0, second)}?${text.slice(second + 1)}`)
    await issue(3)
    await write()
    const last = JSON.parse(readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? '')
    expect(last).toMatchObject({ seq: 4, event: 'challenged', number: 3 })
    // A file that ends otherwise than the ledger remembers is read as a whole.
    truncateSync(path, readFileSync(path).length - 5)
    await expect(write()).rejects.toThrow('line 2 is damaged')
    // An older one goes on behind its end, and a lost one is written again.
    for (const older of [text, '']) {
      writeFileSync(path, older)
      await write()
      expect(linesIn(path).map(({ number }) => number)).toEqual([undefined, 1, 2, 3])
    }
    await store.close()
  })

  it('is written whole by each daemon, and each start knows its own end', async () => {
    const folder = temporaryFolder()
    const paths = ['one', 'other'].map((name) => join(folder, name))
    const store = await openTestStore()
    const damage = (path: string) => {
      const text = readFileSync(path, 'utf8')
      const second = text.indexOf('\n') + 1
      writeFileSync(path, `${text.slice(0, second)}?${text.slice(second + 1)}`)
    }
    for (const n of [1, 2]) {
      await store.ledger.issue(challengeOf(n))
      const files = await Promise.all(paths.map((path) => open(path, store)))
      await Promise.all(files.map((file) => file.close()))
    }
    for (const path of paths) {
      expect(linesIn(path).map(({ number }) => number)).toEqual([undefined, 1, 2])
      // A reader of the second line would stop at it.
      damage(path)
      await (await open(path, store)).close()
    }
    await store.close()
  })

  it.each(['runs', 'is away'])(
    'has every event of an older copy of the ledger, which took over while the daemon %s',
    async (during) => {
      const folder = temporaryFolder()
      const path = join(folder, 'history.jsonl')
      const [live, copied] = [join(folder, 'live.jsonl'), join(folder, 'copied.jsonl')]
      const original = await openTestStore({ path: live })
      let { store, ledger } = original
      // As a server whose name moves to another one.
      const server = {
        ...original,
        store: {
          ...store,
          ask: (question) => store.ask(question),
          change: (name, ...args) => store.change(name, ...args),
        } satisfies TestStore['store'],
      }
      const isTold = async (last: number) =>
        (await store.ask(readHistoryEnd(`${hostname()}:${path}`)))?.last === last

      let file = await open(path, server)
      for (const n of [1, 2]) await ledger.issue(challengeOf(n))
      await until(() => isTold(2))
      backUp(live, `${copied}.db`)
      // The copy lacks an event that has a line, and one that needs none.
      await ledger.issue(challengeOf(3))
      await store.change('changeSetting', 'lost', true)
      await until(() => isTold(4))
      if (during === 'is away') await file.close()
      const copy = await openTestStore({ path: copied })
      ;({ store, ledger } = copy)
      await store.change('acceptCopy', 0)
      for (const challenge of [4, 5, 6].map((n) => challengeOf(n))) {
        await store.change('addReady', readyOf(challenge))
        await ledger.issue(challenge)
      }
      if (during === 'is away') file = await open(path, server)
      await until(() => isTold(6))
      await file.close()
      expect(linesIn(path).map(({ number }) => number)).toEqual([undefined, 1, 2, 3, undefined, 4, 5, 6])
      await original.close()
      await copy.close()
    },
  )

  it('goes on behind lines that the ledger was not told of', async () => {
    const path = join(temporaryFolder(), 'history.jsonl')
    const store = await openTestStore()
    for (const n of [1, 2]) await store.ledger.issue(challengeOf(n))
    const forgetful = { ...store, store: { ...store.store, change: async () => undefined as never } }
    await (await open(path, store)).close()
    await store.ledger.issue(challengeOf(3))
    await (await open(path, forgetful)).close()
    await store.ledger.issue(challengeOf(4))
    await (await open(path, store)).close()
    expect(linesIn(path).map(({ number }) => number)).toEqual([undefined, 1, 2, 3, 4])
    await store.close()
  })
})
