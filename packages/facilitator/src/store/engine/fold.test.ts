import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Payload } from '@svc-zerc20/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addressOf,
  burnOf,
  challengeOf,
  nonceOf,
  permitPayloadOf,
  selfTransferOf,
  units,
} from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import { contentOf } from '../../../test/ledger-content.js'
import type { Request } from '../group.js'
import { openBeside, openInMemory } from './open-database.js'
import { createWriter } from './writer.js'

const settings = {
  steps: {
    openMax: 100,
    openOfSellers: new Map<string, number>(),
    expiredRetentionSeconds: 3600,
    foundPerAddressMax: 4,
    unmatchedMax: { perChallenge: 3, total: 100 },
  },
  keepSigned: { blocks: 3 },
}
const limits = { journalBytesMax: 1 << 23 }
const nowMs = 1_700_000_100_000

type Named = Pick<Request, 'name' | 'args'>
const fee = { amount: units(10n), bps: 100, chargeTo: 'payer', recipient: nonceOf(9).slice(0, 42) } as never
const challenges = [1, 2, 3, 4].map((n) => challengeOf(n, n % 2 ? { fee } : {}))
const signed = (n: number) =>
  ({ txNonce: n % 5, hash: burnOf(40 + n).txHash, raw: '0x02', from: addressOf(0x30) }) as const

const anySeed = fc.integer({ min: 0, max: 3 })
const anyStep: fc.Arbitrary<Named> = fc.oneof(
  anySeed.map((i): Named => ({ name: 'issue', args: [challenges[i], undefined] })),
  fc.tuple(anySeed, fc.boolean()).map(([i, isPermit]): Named => {
    const challenge = challenges[i] ?? challengeOf(1)
    const payload: Payload.Payload = isPermit
      ? permitPayloadOf(challenge, { nonce: BigInt(i) })
      : selfTransferOf(challenge, 40 + i)
    return { name: 'claim', args: [challenge.nonce, payload, true, undefined] }
  }),
  anySeed.map((i): Named => ({ name: 'release', args: [nonceOf(i + 1)] })),
  fc
    .tuple(fc.nat({ max: 8 }), fc.subarray([1, 2, 3, 4], { minLength: 1 }))
    .map(([n, seeds]): Named => ({ name: 'recordSigned', args: [signed(n), seeds.map(nonceOf)] })),
  fc.tuple(anySeed, fc.nat({ max: 8 }), fc.integer({ min: 1, max: 9 })).map(
    ([i, n, block]): Named => ({
      name: 'accept',
      args: [nonceOf(i + 1), { ...burnOf(40 + n), blockNumber: BigInt(block), value: units(1000n) }],
    }),
  ),
  anySeed.map((i): Named => ({ name: 'demote', args: [nonceOf(i + 1)] })),
  anySeed.map((i): Named => ({ name: 'useGrants', args: [[nonceOf(i + 1)]] })),
  fc.tuple(anySeed, fc.nat({ max: 5 })).map(
    ([i, n]): Named => ({
      name: 'recordLate',
      args: [challenges[i], { ...burnOf(60 + n), value: units(BigInt(900 + n * 100)) }, 'late'],
    }),
  ),
  anySeed.map(
    (i): Named => ({ name: 'finalize', args: [nonceOf(i + 1), { value: units(1000n) }, units(10_000n)] }),
  ),
  anySeed.map(
    (i): Named => ({
      name: 'recordUnmatched',
      args: [nonceOf(i + 1), { txHash: burnOf(i).txHash, reason: 'dust' }],
    }),
  ),
  anySeed.map((i): Named => ({ name: 'countTransfer', args: [challenges[i]?.payTo, BigInt(i)] })),
  anySeed.map((i): Named => ({ name: 'recordMintSigned', args: [signed(i + 20), [nonceOf(i + 1)]] })),
)

function writerOf(database: ReturnType<typeof openBeside>) {
  return createWriter({
    ...database,
    settings,
    onCommitted: database.moveTo,
    onFailure: (err) => {
      throw err
    },
  })
}

const run = (database: ReturnType<typeof openBeside>, steps: readonly Named[]) =>
  writerOf(database).run(steps.map((step) => ({ ...step, nowMs })))

const steps = fc.array(anyStep, { minLength: 1, maxLength: 40 })

describe('rows', () => {
  it('are the sum of the events: a database made from the journal is the same, at every line', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const folder = temporaryFolder()
        const path = join(folder, 'journal')
        const database = openBeside(path, settings, limits)
        const states = new Map([[0, contentOf(database.connection)]])
        for (const step of list) {
          run(database, [step])
          const { applied } = database.position()
          states.set(applied, contentOf(database.connection))
        }
        database.close()
        const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
        const places = [...states.keys()]
        expect(lines.length).toBe(1 + (places.at(-1) ?? 0))
        for (const applied of new Set([0, places[places.length >> 1] ?? 0, places.at(-1) ?? 0])) {
          const part = join(folder, `part-${applied}`)
          writeFileSync(part, `${lines.slice(0, 1 + applied).join('\n')}\n`)
          const again = openBeside(part, settings, limits)
          expect(contentOf(again.connection)).toEqual(states.get(applied))
          again.close()
        }
      }),
      { numRuns: 25 },
    )
  })

  it('are the same when steps share a group', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const [one, all] = [openInMemory(), openInMemory()]
        for (const step of list) run(one, [step])
        run(all, list)
        expect(contentOf(all.connection)).toEqual(contentOf(one.connection))
      }),
      { numRuns: 25 },
    )
  })
})
