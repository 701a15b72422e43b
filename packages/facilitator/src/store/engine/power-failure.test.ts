/**
 * The power fails at any instant. `POWER_FAILURES` sets how often (`npm run test:crash` sets it high), and `CRASH_SEED` repeats
 * the choices of an earlier run.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFailed } from 'vitest'
import { addressOf } from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import { contentOf, expectSame, foldsOf } from '../../../test/ledger-content.js'
import { scriptOf } from '../../../test/ledger-script.js'
import { failPower, type Instant, watchPower } from '../../../test/power-failure.js'
import { stepSettings } from '../../../test/store.js'
import { sql } from '../sql.js'
import { type Engine, openEngine } from './engine.js'
import { openSqlite } from './sqlite.js'

const failures = Number(process.env.POWER_FAILURES ?? 60)
const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)
const settings = { steps: stepSettings, keepSigned: { blocks: 3 } }
/** Cuts the journal after a few groups. */
const limits = { journalBytesMax: 6_000 }
/** The script is run in so many parts, with a power failure between them. */
const lives = 3
const nowMs = 1_700_000_100_000

/** Numbers below a limit, the same for the same seed. */
function drawer(name: string): (limit: number) => number {
  let count = 0
  let bytes = Buffer.alloc(0)
  return (limit) => {
    if (count % 8 === 0) bytes = createHash('sha256').update(`${seed}/${name}/${count}`).digest()
    return bytes.readUInt32BE(4 * (count++ % 8)) % limit
  }
}

const open = (path: string): Engine => openEngine({ path, settings, limits }, () => undefined)

const codeOf = (error: unknown) => (error as { code?: string }).code

type Seen = Instant & {
  /** The newest event that somebody was told of. */
  readonly told: number
  /** The group that was under way, or was answered last. */
  readonly group: number
}

/** Runs groups, and gives all instants at which the power may have failed, and the content after each event. */
function live({
  path,
  script,
  from,
  below,
  isFirst,
}: {
  readonly path: string
  readonly script: ReturnType<typeof scriptOf>
  readonly from: number
  readonly below: (limit: number) => number
  readonly isFirst: boolean
}) {
  const instants: Seen[] = []
  let told = 0
  let group = from
  // The first life has a good disk, and shows that every step does something.
  let isGood = true
  const refuses = () => !isGood && below(12) === 0
  const { watch } = watchPower(path, (instant) => instants.push({ ...instant, told, group }), refuses)
  const engine = open(path)
  told = engine.figures().records
  watch(engine.connection)
  engine.connection.exec('PRAGMA wal_autocheckpoint = 100')
  expect(engine.connection.query(sql`PRAGMA journal_mode`)).toEqual([{ journal_mode: 'wal' }])
  expect(engine.connection.query(sql`PRAGMA synchronous`)).toEqual([{ synchronous: 1 }])
  isGood = isFirst
  for (const steps of script.slice(from)) {
    // A reader is in the way of some checkpoints.
    const reader = below(4) === 0 ? openSqlite(`${path}.db`, { isReader: true }) : undefined
    reader?.exec('BEGIN')
    reader?.query(sql`SELECT count(*) FROM event`)
    for (let left = steps; left.length > 0; ) {
      // A refused step leaves its lines until the next one, which must be the same to have the same place.
      const asked = isGood ? left : left.slice(0, 1)
      const replies = engine.run(asked.map((step) => ({ ...step, nowMs })))
      told = engine.figures().records
      if (isFirst) expect(replies.filter((reply) => 'error' in reply)).toEqual([])
      const isRefused = replies.some((reply) => 'error' in reply && codeOf(reply.error) === 'ledger_failed')
      if (!isRefused) left = left.slice(asked.length)
    }
    reader?.exec('ROLLBACK')
    reader?.close()
    group += 1
  }
  isGood = true
  const states = foldsOf(engine.connection, settings.keepSigned)
  expectSame(contentOf(engine.connection), states.at(-1))
  engine.close()
  return { instants, states }
}

/** Everything that was told is there, and nothing that did not happen. */
function assertWhole(
  { connection, figures }: Engine,
  { told }: Seen,
  states: readonly string[],
  isFirst: boolean,
): void {
  const { records } = figures()
  expect(records).toBeGreaterThanOrEqual(told)
  expectSame(contentOf(connection), states[records])
  expect(connection.query(sql`PRAGMA integrity_check`)).toEqual([{ integrity_check: 'ok' }])
  const [followed] = connection.query(sql`SELECT record FROM followed`)
  const blocks = connection.query(sql`SELECT block FROM transfer ORDER BY block`).map(({ block }) => block)
  // Later lives do not follow the chain again, as a daemon does from this block on.
  if (followed && isFirst)
    expect(blocks).toEqual(expect.arrayContaining([...Array(JSON.parse(followed.record).number + 1).keys()]))
}

describe('a power failure', () => {
  it(`loses nothing that was told, at ${failures} instants, whatever the disk had of journal, WAL and database`, {
    timeout: 600_000 + failures * 200,
  }, () => {
    onTestFailed(() => {
      process.stderr.write(`to repeat: CRASH_SEED=${seed} POWER_FAILURES=${failures} npm run test:crash\n`)
    })
    const below = drawer('power')
    const script = scriptOf(6, below)
    const folder = temporaryFolder({ isQuick: true })
    let path = join(temporaryFolder({ isQuick: true }), 'journal')
    let from = 0
    let count = 0
    for (let life = 0; life < lives; life++) {
      const { instants, states } = live({ path, script, from, below, isFirst: life === 0 })
      for (let failure = 0; failure < failures / lives; failure++) {
        const instant = instants[below(instants.length)] as Seen
        const left = join(folder, `left-${count++}`)
        failPower(instant, left, below)
        const engine = open(left)
        assertWhole(engine, instant, states, life === 0)
        engine.close()
        // The next life begins with one of these.
        if (instant.group <= (script.length * (life + 1)) / lives)
          ({ path, from } = { path: left, from: instant.group })
      }
    }
  })

  it('tears a group anywhere: it never happened. Damage to a group that was synced is named', () => {
    const path = join(temporaryFolder({ isQuick: true }), 'journal')
    const engine = open(path)
    const bindings = [1, 2, 3].map((txNonce) => ['relayer', { address: addressOf(1), txNonce }])
    const [first, ...others] = bindings.map((args) => ({ name: 'bindAccount' as const, args, nowMs }))
    engine.run(first ? [first] : [])
    engine.run(others)
    engine.close()
    const lines = readFileSync(path, 'utf8').split('\n')
    expect(lines.map((line) => line && JSON.parse(line).group)).toEqual([
      undefined,
      undefined,
      undefined,
      3,
      '',
    ])
    /** A start on this journal alone, with one line damaged; how many events it has. */
    const eventsWithout = (damaged: number) => {
      const torn = join(temporaryFolder({ isQuick: true }), 'journal')
      writeFileSync(
        torn,
        lines.map((line, i) => (i === damaged ? line.replace('relayer', 'minter!') : line)).join('\n'),
      )
      const again = open(torn)
      again.close()
      return again.figures().records
    }
    expect(eventsWithout(3)).toBe(2)
    expect(eventsWithout(2)).toBe(1)
    expect(() => eventsWithout(1)).toThrow('line 2 is damaged')
  })
})
