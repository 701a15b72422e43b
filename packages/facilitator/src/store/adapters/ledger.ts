/** The ledger of the payment flow on the store. */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '@svc-zerc20/protocol'
import type { Ledger, Pause } from '../../payment/ledger-port.js'
import type { Payment } from '../../payment/records.js'
import type { FeeLedger } from '../../payment/sweep/ports.js'
import { pauseSetting, readSetting } from '../rows/rows.js'
import { serverNow, sql } from '../sql.js'
import type { StepSettings } from '../steps/step-context.js'
import { isForgotten } from '../steps/steps.js'
import type { Store } from '../store.js'
import {
  type AwaitingPlace,
  awaitingMint,
  demotedPayments,
  feesDue,
  findPayment,
  interrupted,
  ofPayer,
  openSweeps,
  presented,
  swept,
} from './flow-questions.js'
import { createGrants } from './grants.js'

/** Rows that are read in one go from a list without an end. */
const rowsAtOnce = 256

export type StoreLedger = Ledger & FeeLedger

/** `on` gives the same ledger for work under leases: what it changes, it changes through that store. */
export function createStoreLedger({
  store,
  clock,
  settings,
}: {
  readonly store: Store
  readonly clock: Clock
  readonly settings: StepSettings
}): StoreLedger & { on(store: Store): StoreLedger } {
  const { ask } = store
  const isShared = store.leases.holder !== undefined
  const nowMs = () => (isShared ? serverNow : sql`${clock.now()}`)
  const context = () => ({ now: Math.floor(clock.now() / 1000) as never, settings })

  const retained = (payment: Payment | undefined) =>
    payment && !isForgotten(payment, context()) ? payment : undefined

  const grants = createGrants(store, clock, {
    find: async (nonce) => retained(await ask(findPayment(nonce))),
    async presented(payload) {
      const { payment, known } = await ask(presented(payload, nowMs()))
      return { ...known, payment: retained(payment) }
    },
  })

  const on = ({ change }: Store): StoreLedger => ({
    issue: (challenge) => change('issue', challenge),
    ...pauseOn(ask, change),
    claim: (nonce, payload, ticketed = false, means) => change('claim', nonce, payload, ticketed, means),
    ofPayer: (payer) => ask(ofPayer(payer, nowMs())),
    burnFailed: (payer) => change('burnFailed', payer).catch(() => undefined),
    release: (nonce, why, sureOf) => change('release', nonce, why, sureOf),
    interrupted: () => ask(interrupted()),
    recordSigned: (transaction, nonces) => change('recordSigned', transaction, nonces),
    demote: (nonce) => change('demote', nonce),
    moveBurn: (nonce, burn) => change('moveBurn', nonce, burn),
    async *demoted() {
      yield* await ask(demotedPayments())
    },
    async *awaitingMint({ inEpochs } = { inEpochs: false }) {
      let after: AwaitingPlace | undefined
      for (;;) {
        const part = await ask(awaitingMint({ inEpochs, after, limit: rowsAtOnce }))
        for (const { awaiting } of part) yield awaiting
        after = part.at(-1)?.place
        if (part.length < rowsAtOnce) return
        // Others have their turn.
        await setImmediate()
      }
    },
    recordMintSigned: (transaction, nonces) => change('recordMintSigned', transaction, nonces),
    finalize: (nonce, mint, burned) => change('finalize', nonce, mint, burned),
    recordLate: (challenge, burn, reason) => change('recordLate', challenge, burn, reason),
    recordUnmatched: (nonce, transfer) => change('recordUnmatched', nonce, transfer),
    find: grants.find,
    presented: grants.presented,
    ...grants.termWith(change),

    feesDue: (terms) => ask(feesDue(terms)),
    recordSweepSigned: (sweep, transaction) => change('recordSweepSigned', sweep, transaction),
    async endSweep({ transactions: [version] }, end) {
      if (version) await change('endSweep', version, end)
    },
    recordSweepFound: (sweep, transfer) => change('recordSweepFound', sweep, transfer),
    openSweeps: () => ask(openSweeps()),
    swept: () => ask(swept()),
  })

  return { ...on(store), on }
}

const pauseOn = (ask: Store['ask'], change: Store['change']): Pick<Ledger, 'pause' | 'setPause'> => ({
  pause: async () => (await ask(readSetting<Pause | null>(pauseSetting))) ?? undefined,
  setPause: (pause) => change('changeSetting', pauseSetting, pause ?? null),
})
