/** The index beside a plain model: a map of payments, sorted and filtered anew for every question. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { addressOf, burnOf, challengeOf, hashOf, nonceOf, seconds, units } from '../../../test/challenges.js'
import { temporaryFolder } from '../../../test/folder.js'
import type { HistoryFilter, HistoryQuery, HistoryScope, HistoryTotals, Sum } from '../books.js'
import {
  amountOf,
  type HistoryPayment,
  type HistoryPhase,
  historyPhases,
  payerOf,
  phaseOf,
  type RecordKind,
  recordKinds,
  timeOf,
  toldFinalityAt,
} from '../payment.js'
import { type HistoryIndex, indexFolderOf, openHistoryIndex } from './history-index.js'
import { indexLimits } from './limits.js'

/** Three and a half hours, so that totals meet whole hours and both edges. */
const begin = 1_700_000_000
const span = 12_600
/** Often the same few times, and those at the edges of hours: there a bound is right or wrong. */
const offsets = [0, 1, 2, 3_199, 3_200, 3_201, 6_800, 10_399, 10_400]
const time = fc
  .oneof(fc.constantFrom(...offsets), fc.integer({ min: 0, max: span }))
  .map((offset) => seconds(begin + offset))
const amount = fc.oneof(fc.bigInt(0n, 20n), fc.bigInt(0n, 2n ** 256n - 1n)).map(units)
const payers = [1, 2].map((n) => addressOf(0xb0 + n))
const treasuries = [1, 2].map((n) => addressOf(0xc0 + n))
const payer = fc.constantFrom(...payers)

type Step = {
  readonly payment: number
  readonly kind: RecordKind
  readonly at: ReturnType<typeof seconds>
  readonly value: ReturnType<typeof units>
  readonly from: ReturnType<typeof addressOf>
}

const step = fc.record<Step>({
  payment: fc.integer({ min: 0, max: 7 }),
  kind: fc.constantFrom(...recordKinds),
  at: time,
  value: amount,
  from: payer,
})

const without = <T extends object, K extends keyof T>(value: T, name: K): Omit<T, K> => {
  const { [name]: _, ...rest } = value
  return rest
}

/** What a record does to a payment. The index knows nothing of it: any change must do. */
function taken(before: HistoryPayment | undefined, step: Step, seq: number): HistoryPayment {
  const { payment: seed, kind, at, value, from } = step
  const challenge = challengeOf(seed + 1, {
    issuedAt: at,
    amount: value,
    treasury: treasuries[seed % 2] ?? addressOf(0),
    ...(seed % 3 === 0 && { fee: { amount: units(3n), bps: 30, chargeTo: 'payer' } }),
  })
  if (!before) return { challenge, unmatched: [], turns: [{ seq, kind: 'challenged', at }] }
  const known: HistoryPayment = { ...before, turns: [...before.turns, { seq, kind, at }] }
  const burn = { ...burnOf(seq), from, value }
  const mint = { mint: { value }, at }
  switch (kind) {
    case 'challenged':
      return known
    case 'accepted':
      return { ...known, accepted: { burn, at } }
    case 'demoted':
      return without(known, 'accepted')
    case 'moved':
      return known.accepted ? { ...known, accepted: { burn, at: known.accepted.at } } : known
    case 'finalized':
      return known.accepted && known.late && known.finalized
        ? { ...known, lateMinted: mint }
        : known.accepted || known.late
          ? { ...known, finalized: mint }
          : known
    case 'late': {
      // A larger burn takes the place of a minted one.
      const minted = known.accepted ? known.lateMinted : known.finalized
      const rest = minted ? without(known, known.accepted ? 'lateMinted' : 'finalized') : known
      const mintedBefore = [...(known.mintedBefore ?? []), ...(minted ? [minted] : [])]
      return {
        ...rest,
        ...(mintedBefore.length > 0 && { mintedBefore }),
        late: { burn, reason: known.accepted ? 'second' : 'late', at },
      }
    }
    case 'unmatched':
      return {
        ...known,
        unmatched: [...known.unmatched, { txHash: hashOf(seq), reason: 'value_mismatch', at }],
      }
    case 'disclosed':
      return { ...known, disclosedAt: at }
  }
}

type Model = Map<string, HistoryPayment>

/** Plays steps into index and model, some in each write. */
async function play(index: HistoryIndex, model: Model, writes: readonly (readonly Step[])[]): Promise<void> {
  let seq = index.indexedSeq()
  for (const steps of writes) {
    const changes = steps.map((step) => {
      const nonce = nonceOf(step.payment + 1)
      const before = model.get(nonce)
      seq += 1
      const after = taken(before, step, seq)
      model.set(nonce, after)
      return { ...(before && { before }), after }
    })
    await index.put(changes, seq)
    expect(index.indexedSeq()).toBe(seq)
  }
}

const isInScope = (payment: HistoryPayment, scope: HistoryScope): boolean =>
  scope.kind === 'treasury' ? payment.challenge.treasury === scope.treasury : payerOf(payment) === scope.payer

const phaseAt = (payment: HistoryPayment, finalityBefore: number | undefined): HistoryPhase =>
  payment.finalized &&
  finalityBefore !== undefined &&
  toldFinalityAt(timeOf(payment), payment.finalized.at) >= finalityBefore
    ? phaseOf(without(payment, 'finalized'))
    : phaseOf(payment)

const compare = (a: bigint | string, b: bigint | string) => (a < b ? -1 : a > b ? 1 : 0)

/** Smallest first: the oldest, or the smallest amount. */
function listed(model: Model, filter: HistoryFilter, order: HistoryQuery['order']): HistoryPayment[] {
  const key = (payment: HistoryPayment) => (order === 'time' ? BigInt(timeOf(payment)) : amountOf(payment))
  return [...model.values()]
    .filter((payment) => isInScope(payment, filter.scope))
    .filter(
      (payment) => filter.phase === undefined || phaseAt(payment, filter.finalityBefore) === filter.phase,
    )
    .filter((payment) => filter.since === undefined || timeOf(payment) >= filter.since)
    .filter((payment) => filter.until === undefined || timeOf(payment) < filter.until)
    .filter((payment) => filter.amountMin === undefined || amountOf(payment) >= filter.amountMin)
    .filter((payment) => filter.amountMax === undefined || amountOf(payment) <= filter.amountMax)
    .sort((a, b) => compare(key(a), key(b)) || compare(a.challenge.nonce, b.challenge.nonce))
}

function totalled(model: Model, scope: HistoryScope, since: number, until: number): HistoryTotals {
  const sums = {
    accepted: [] as bigint[],
    fees: [] as bigint[],
    late: [] as bigint[],
    finalized: [] as bigint[],
  }
  const isWithin = (at: number) => at >= since && at < until
  for (const payment of [...model.values()].filter((payment) => isInScope(payment, scope))) {
    const { challenge, accepted, late, finalized, lateMinted, mintedBefore = [] } = payment
    if (accepted && isWithin(accepted.at)) {
      sums.accepted.push(accepted.burn.value)
      if (challenge.fee) sums.fees.push(challenge.fee.amount)
      if (finalized) sums.finalized.push(finalized.mint.value)
    }
    const isOwn = scope.kind === 'treasury' || late?.burn.from === scope.payer
    if (late && isOwn && isWithin(late.at)) {
      const difference = late.burn.value - (accepted?.burn.value ?? 0n)
      sums.late.push(difference > 0n ? difference : 0n)
      for (const minted of [...mintedBefore, lateMinted, ...(accepted ? [] : [finalized])]) {
        if (minted) sums.finalized.push(minted.mint.value)
      }
    }
  }
  const sum = (amounts: readonly bigint[]): Sum => ({
    payments: amounts.length,
    amount: amounts.reduce((a, b) => a + b, 0n),
  })
  return {
    accepted: sum(sums.accepted),
    fees: sum(sums.fees),
    late: sum(sums.late),
    finalized: sum(sums.finalized),
  }
}

const scope = fc.constantFrom<HistoryScope>(
  ...treasuries.map((treasury) => ({ kind: 'treasury', treasury }) as const),
  ...payers.map((payer) => ({ kind: 'payer', payer }) as const),
)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const filter = fc.record<HistoryFilter>({
  scope,
  phase: maybe(fc.constantFrom(...historyPhases)),
  since: maybe(time),
  until: maybe(time),
  amountMin: maybe(amount),
  amountMax: maybe(amount),
  // Mints are told a day behind their burns.
  finalityBefore: maybe(time.map((at) => seconds(at + 86_400))),
})
const order = fc.constantFrom<HistoryQuery['order']>('time', 'amount')
const writes = fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 12 })

/** Pages that end after a few entries, so that short ones are the rule. */
const narrow = { ...indexLimits, examinedPerPageMax: 3, entriesPerStep: 2, paymentsPerStep: 2 }

async function pagesOf(index: HistoryIndex, query: HistoryQuery): Promise<HistoryPayment[]> {
  const payments: HistoryPayment[] = []
  let after: string | undefined
  for (let pages = 0; pages < 100; pages++) {
    const page = await index.books.page({ ...query, after })
    if (page === 'bad_cursor') throw new Error('the cursor of a page was refused')
    expect(page.payments.length).toBeLessThanOrEqual(query.limit)
    payments.push(...page.payments)
    if (page.next === undefined) return payments
    after = page.next
  }
  throw new Error('the pages have no end')
}

async function listOf<T>(all: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const each of all) list.push(each)
  return list
}

async function open(limits = indexLimits) {
  const folder = indexFolderOf(join(temporaryFolder(), 'history.jsonl'))
  return { folder, index: await openHistoryIndex(folder, limits) }
}

async function knownTo(index: HistoryIndex, ...nonces: ReturnType<typeof nonceOf>[]) {
  const known = await index.payments(nonces)
  return nonces.map((nonce) => known.get(nonce))
}

async function allOf(folder: string): Promise<Map<string, string>> {
  const level = new ClassicLevel<string, string>(folder, { keyEncoding: 'hex', valueEncoding: 'hex' })
  const content = new Map(await level.iterator().all())
  await level.close()
  return content
}

async function contentOf(folder: string): Promise<Map<string, string>> {
  const content = await allOf(folder)
  // The state and the numbers of writes tell how many came, and not what they were.
  const isCount = (key: string) => '!w'.includes(Buffer.from(key, 'hex').toString('latin1', 0, 1))
  for (const key of content.keys()) if (isCount(key)) content.delete(key)
  return content
}

describe('the index of the payment history', () => {
  it('answers like a plain list of all payments, whatever happened to them', async () => {
    const { index } = await open(narrow)
    const question = fc.record({
      filter,
      order,
      limit: fc.integer({ min: 1, max: 4 }),
      since: time,
      until: time,
    })
    await fc.assert(
      fc.asyncProperty(
        writes,
        fc.array(question, { minLength: 8, maxLength: 8 }),
        async (steps, questions) => {
          await index.reset()
          expect(index.indexedSeq()).toBe(0)
          const model: Model = new Map()
          await play(index, model, steps)
          for (const { filter, order, limit, since, until } of questions) {
            expect(await pagesOf(index, { ...filter, order, limit })).toEqual(
              listed(model, filter, order).reverse(),
            )
            expect(await listOf(index.books.all(filter))).toEqual(listed(model, filter, 'time'))
            expect(await index.books.totals(filter.scope, { since, until })).toEqual(
              totalled(model, filter.scope, since, until),
            )
          }
          const nonces = [1, 2, 3, 9].map(nonceOf)
          const known = nonces.map((nonce) => model.get(nonce))
          expect(await knownTo(index, ...nonces)).toEqual(known)
          expect(await Promise.all(nonces.map(index.books.find))).toEqual(known)
        },
      ),
      { numRuns: 60 },
    )
    await index.close()
  })

  it('keeps no key of what a payment was before: it equals an index that saw only the last state', async () => {
    await fc.assert(
      fc.asyncProperty(writes, async (steps) => {
        const [stepwise, atOnce] = [await open(), await open()]
        const model: Model = new Map()
        await play(stepwise.index, model, steps)
        await atOnce.index.put(
          [...model.values()].map((after) => ({ after })),
          1,
        )
        await stepwise.index.close()
        await atOnce.index.close()
        expect(await contentOf(stepwise.folder)).toEqual(await contentOf(atOnce.folder))
      }),
      { numRuns: 12 },
    )
  })

  it('takes any text for a cursor without leaving the scope', async () => {
    const { index } = await open(narrow)
    const steps = [0, 1, 2, 3, 4, 5].flatMap((payment) =>
      (['challenged', 'accepted'] as const).map((kind) => ({
        payment,
        kind,
        at: seconds(begin + payment),
        value: units(BigInt(payment)),
        from: payers[payment % 2] ?? addressOf(0),
      })),
    )
    await play(index, new Map(), [steps])
    const place = fc
      .tuple(fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 70 }))
      .map(([first, bytes]) => Buffer.from([first, ...bytes]).toString('base64url'))
    const ofTime = fc
      .tuple(fc.uint8Array({ minLength: 40, maxLength: 40 }))
      .map(([bytes]) => Buffer.from([1, ...bytes]).toString('base64url'))
    const ofAmount = fc
      .tuple(fc.integer({ min: 0, max: 32 }), fc.uint8Array({ minLength: 64, maxLength: 64 }))
      .map(([count, bytes]) => Buffer.from([2, count, ...bytes.slice(0, count + 32)]).toString('base64url'))
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.base64String(),
      place,
      ofTime,
      ofAmount,
    )
    let pages = 0
    await fc.assert(
      fc.asyncProperty(text, filter, order, async (after, filter, order) => {
        const page = await index.books.page({ ...filter, order, limit: 3, after })
        if (page === 'bad_cursor') return
        pages += 1
        expect(page.payments.filter((payment) => !isInScope(payment, filter.scope))).toEqual([])
        const cursor = page.next === undefined ? '' : Buffer.from(page.next, 'base64url').toString('hex')
        const own = await listOf(index.books.all({ scope: filter.scope }))
        expect(cursor === '' || own.some(({ challenge }) => cursor.endsWith(challenge.nonce.slice(2)))).toBe(
          true,
        )
      }),
      { numRuns: 400 },
    )
    expect(pages).toBeGreaterThan(20)
    await index.close()
  })

  it('refuses the cursor of another order, and one that no page gave', async () => {
    const { index } = await open()
    await play(index, new Map(), [[0, 2].map((payment) => stepOf(payment))])
    const query = { scope: { kind: 'treasury', treasury: treasuries[0] ?? addressOf(0) }, limit: 1 } as const
    const page = await index.books.page({ ...query, order: 'time' })
    const after = page === 'bad_cursor' ? undefined : page.next
    expect(after).toBeDefined()
    expect(await index.books.page({ ...query, order: 'amount', after })).toBe('bad_cursor')
    const whole = Buffer.from(after ?? '', 'base64url')
    const forged = [
      Buffer.of(),
      whole.subarray(0, -1),
      Buffer.concat([whole, Buffer.of(0)]),
      Buffer.concat([Buffer.of(3), whole.subarray(1)]),
    ]
    for (const bytes of forged) {
      const after = bytes.toString('base64url')
      expect(await index.books.page({ ...query, order: 'time', after })).toBe('bad_cursor')
    }
    expect(await index.books.page({ ...query, order: 'time', after: ` ${after}` })).toBe('bad_cursor')
    await index.close()
  })

  it('counts a payment as finalized only where its mint came before the time that the question names', async () => {
    const { index } = await open()
    const [from, at] = [payers[0] ?? addressOf(0), seconds(begin + 50)]
    const steps = (['challenged', 'accepted', 'finalized'] as const).map((kind) => ({
      ...stepOf(0),
      kind,
      from,
      at,
    }))
    await play(index, new Map(), [steps])
    const phases = async (scope: HistoryScope, finalityBefore: number | undefined) => {
      const found: HistoryPhase[] = []
      for (const phase of historyPhases) {
        const filter = { scope, phase, finalityBefore: finalityBefore as typeof at | undefined }
        if ((await pagesOf(index, { ...filter, order: 'time', limit: 9 })).length > 0) found.push(phase)
      }
      return found
    }
    for (const scope of [
      { kind: 'payer', payer: from },
      { kind: 'treasury', treasury: treasuries[0] ?? from },
    ] as const) {
      expect(await phases(scope, at + 86_400)).toEqual(['accepted'])
      expect(await phases(scope, at + 86_401)).toEqual(['finalized'])
      expect(await phases(scope, undefined)).toEqual(['finalized'])
    }
    await index.close()
  })

  it('puts all of a write in or nothing, and remembers how far it came', async () => {
    const { folder, index } = await open()
    const model: Model = new Map()
    await play(index, model, [[stepOf(0)]])
    const known = model.get(nonceOf(1))
    const place = { id: 'journal', generation: 2, records: 7 }
    await index.setCompleteUpTo(place)
    // The second change takes away money that the index never saw, so its sums cannot be written.
    const never = taken(taken(undefined, stepOf(2), 2), { ...stepOf(2), kind: 'accepted' }, 3)
    const changed = taken(known, { ...stepOf(0), kind: 'accepted', at: seconds(begin + 9_999) }, 2)
    const wrong = [
      { ...(known && { before: known }), after: changed },
      { before: never, after: without(never, 'accepted') },
    ]
    await expect(index.put(wrong, 5)).rejects.toMatchObject({ code: 'history_corrupt' })
    expect(index.indexedSeq()).toBe(1)
    // An index that contradicts itself says nothing more, to nobody.
    expect([index.isDamaged(), index.needsFilling()]).toEqual([true, true])
    await expect(index.payments([nonceOf(1)])).rejects.toMatchObject({ code: 'history_corrupt' })
    await expect(index.books.find(nonceOf(1))).rejects.toMatchObject({ code: 'journal_failed' })
    await expect(listOf(index.books.all({ scope: scopeOfAll }))).rejects.toMatchObject({
      code: 'journal_failed',
    })
    await index.close()
    const again = await openHistoryIndex(folder)
    expect(await knownTo(again, nonceOf(1), nonceOf(3))).toEqual([known, undefined])
    await expect(again.put([], 0)).rejects.toThrow('record 0 comes after 1')
    await again.put([], 4)
    expect([again.indexedSeq(), again.completeUpTo()]).toEqual([4, place])
    await again.close()
  })

  it.each(['nothing', 'everything'])(
    'is right after a refused write that left %s on the disk',
    async (left) => {
      const { folder, index } = await open()
      const model: Model = new Map()
      await play(index, model, [[stepOf(0), { ...stepOf(0), kind: 'accepted' }]])
      const before = model.get(nonceOf(1))
      const after = taken(before, { ...stepOf(0), kind: 'finalized' }, 3)
      const changes = [{ ...(before && { before }), after }]
      const { batch } = ClassicLevel.prototype
      const refusal = vi.spyOn(ClassicLevel.prototype, 'batch').mockImplementationOnce(async function (
        this: ClassicLevel,
        ...args: unknown[]
      ) {
        if (left === 'everything') await Reflect.apply(batch, this, args)
        throw new Error('no space left on device')
      } as never)
      onTestFinished(() => refusal.mockRestore())
      await expect(index.put(changes, 3)).rejects.toThrow('no space left')
      expect(index.indexedSeq()).toBe(2)
      await index.put(changes, 3)
      expect(index.indexedSeq()).toBe(3)
      const scope = { kind: 'treasury', treasury: treasuries[0] ?? addressOf(0) } as const
      model.set(nonceOf(1), after)
      expect(await index.books.totals(scope, { since: begin, until: begin + span })).toEqual(
        totalled(model, scope, begin, begin + span),
      )
      await index.setCompleteUpTo({ id: 'journal', generation: 1, records: 1 })
      await index.close()
      const again = await openHistoryIndex(folder)
      expect([again.indexedSeq(), await knownTo(again, nonceOf(1))]).toEqual([3, [after]])
      await again.close()
    },
  )

  it('keeps the numbers of its last writes alone, and begins empty where one of them is gone', async () => {
    const limits = { ...indexLimits, writesKept: 3 }
    const { folder, index } = await open(limits)
    for (let seq = 1; seq <= 5; seq++) await index.put([], seq)
    await index.close()
    const numbers = [...(await allOf(folder)).keys()].filter((key) => key.startsWith('77'))
    expect(numbers.map((key) => Number(`0x${key.slice(2)}`))).toEqual([3, 4, 5])
    const told: unknown[] = []
    const whole = await openHistoryIndex(folder, limits, (error) => told.push(error))
    expect([whole.indexedSeq(), told]).toEqual([5, []])
    await whole.close()
    const level = new ClassicLevel<string, string>(folder, { keyEncoding: 'hex' })
    await level.del(numbers[1] ?? '')
    await level.close()
    const anew = await openHistoryIndex(folder, limits, (error) => told.push(error))
    expect([anew.indexedSeq(), told.length, anew.needsFilling()]).toEqual([0, 1, false])
    await anew.close()
  })

  it('exports what was there when its reader began, and gives up early when the reader does', async () => {
    const { index } = await open(narrow)
    const model: Model = new Map()
    await play(index, model, [[0, 2, 4, 6].map((payment) => stepOf(payment))])
    const filter = { scope: { kind: 'treasury', treasury: treasuries[0] ?? addressOf(0) } } as const
    const expected = listed(model, filter, 'time')
    const all = index.books.all(filter)[Symbol.asyncIterator]()
    const { value: first } = await all.next()
    const dropped = index.books.all(filter)[Symbol.asyncIterator]()
    await dropped.return?.()
    await play(index, model, [[{ ...stepOf(0), kind: 'accepted', at: seconds(begin + 500) }]])
    expect([first, ...(await listOf({ [Symbol.asyncIterator]: () => all }))]).toEqual(expected)
    for await (const first of index.books.all(filter)) {
      expect(first).toEqual(listed(model, filter, 'time')[0])
      break
    }
    await index.close()
  })

  it('lets others work after a few payments, in an export and in a large page', async () => {
    const { index } = await open()
    await play(index, new Map(), [Array.from({ length: 300 }, (_, i) => stepOf(2 * i))])
    const scope = { kind: 'treasury', treasury: treasuries[0] ?? addressOf(0) } as const
    let [turns, inTurn, most, isOver] = [0, 0, 0, false]
    const turn = () => {
      ;[turns, inTurn] = [turns + 1, 0]
      if (!isOver) setImmediate(turn)
    }
    turn()
    for await (const _ of index.books.all({ scope })) {
      inTurn += 1
      most = Math.max(most, inTurn)
    }
    expect(most).toBeLessThanOrEqual(20)
    turns = 0
    const page = await index.books.page({ scope, order: 'time', limit: 300 })
    isOver = true
    expect(page).toMatchObject({ payments: { length: 300 } })
    expect(turns).toBeGreaterThanOrEqual(300 / 20)
    await index.close()
  })

  it('begins empty in a folder of another format or with damaged files, and not beside another process', async () => {
    const { folder, index } = await open()
    await play(index, new Map(), [[stepOf(0)]])
    await expect(openHistoryIndex(folder)).rejects.toMatchObject({ code: 'history_unusable' })
    await index.close()
    const level = new ClassicLevel<string, string>(folder)
    await level.put('!', JSON.stringify({ format: 99, indexedSeq: 1 }))
    await level.close()
    const other = await openHistoryIndex(folder)
    expect([other.indexedSeq(), await knownTo(other, nonceOf(1))]).toEqual([0, [undefined]])
    await play(other, new Map(), [[stepOf(0)]])
    await other.close()
    writeFileSync(join(folder, 'CURRENT'), 'garbage')
    writeFileSync(join(folder, 'notes.txt'), 'of an operator')
    const anew = await openHistoryIndex(folder)
    expect([anew.indexedSeq(), await knownTo(anew, nonceOf(1))]).toEqual([0, [undefined]])
    await anew.close()
  })
})

const scopeOfAll = { kind: 'treasury', treasury: treasuries[0] ?? addressOf(0) } as const

const stepOf = (payment: number): Step => ({
  payment,
  kind: 'challenged',
  at: seconds(begin + payment),
  value: units(10n),
  from: payers[0] ?? addressOf(0),
})
