import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { until } from '../../../../test/support/until.js'
import { addressOf, burnOf, challengeOf, permitPayloadOf, units } from '../../test/challenges.js'
import { temporaryFolder } from '../../test/folder.js'
import { openTestStore, type TestStore } from '../../test/store.js'
import { openHistoryFile } from './history-file.js'

const binding = { chainId: 31337, token: addressOf(7) }

const open = (path: string, { store }: TestStore, changes = {}, isForgotten = false, historyEndBytes = 1e6) =>
  openHistoryFile({
    ...{ path, binding: { ...binding, ...changes }, store, isForgotten },
    clock: {
      now: () => Date.now(),
      sleep: (ms, signal) => new Promise((end) => setTimeout(end, ms, signal?.aborted)),
    },
    onFailure: (err) => {
      throw err
    },
    limits: { historyPauseMs: 5, historyRetryMs: 5, historyEndBytes },
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

  it('says now and then whose it is, so that a start reads its end alone', async () => {
    const path = join(temporaryFolder(), 'history.jsonl')
    const store = await openTestStore()
    const turns = 2_500
    await Promise.all(Array.from({ length: turns }, (_, i) => store.ledger.issue(challengeOf(i + 1))))
    await (await open(path, store)).close()
    const bound = linesIn(path).flatMap(({ event, seq }) => (event === 'history_bound' ? seq : []))
    expect(bound).toEqual([1, 1002, 2003])
    // Whoever read the second line would stop at it.
    const text = readFileSync(path, 'utf8')
    const second = text.indexOf('\n') + 1
    writeFileSync(path, `${text.slice(0, second)}?${text.slice(second + 1)}`)
    const endBytes = Math.ceil(text.length / 2)
    await store.ledger.issue(challengeOf(turns + 1))
    await (await open(path, store, {}, false, endBytes)).close()
    const last = JSON.parse(readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) ?? '')
    expect(last).toMatchObject({ seq: turns + 4, event: 'challenged', number: turns + 1 })
    // An end that does not say it is not enough.
    await expect(open(path, store, {}, false, 2_000)).rejects.toThrow('line 2 is damaged')
    await store.close()
  })
})
