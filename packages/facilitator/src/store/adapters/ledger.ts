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
  endedPayments,
  feesDue,
  findPayment,
  interrupted,
  ofPayer,
  openSweeps,
  orphaned,
  presented,
  swept,
  unsignedClaims,
  unsignedNonces,
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
      const { applied, payment, rows, known } = await ask(presented(payload, nowMs()))
      if (applied !== undefined) store.remember?.(applied, rows)
      return { ...known, payment: retained(payment) }
    },
  })

  const on = ({ change }: Store): StoreLedger => ({
    issue: (challenge) => change('issue', challenge),
    ...pauseOn(ask, change),
    claim: (nonce, payload, ticketed = false, means, sender) =>
      change('claim', nonce, payload, ticketed, means, sender),
    ofPayer: (payer) => ask(ofPayer(payer, nowMs())),
    burnFailed: (payer) => change('burnFailed', payer).catch(() => undefined),
    release: (nonce, why, sureOf) => change('release', nonce, why, sureOf),
    ended: (nonces) => ask(endedPayments(nonces)),
    unsigned: () => ask(unsignedNonces()),
    unsignedClaims: (nonces) => ask(unsignedClaims(nonces)),
    adopt: (nonces, sender) => change('adopt', nonces, sender),
    orphaned: (account) => ask(orphaned(account)),
    interrupted: (account) => ask(interrupted(account)),
    // A daemon that is alone with its ledger burns every claim, also those of others from before a move.
    recordSigned: (transaction, nonces) =>
      change('recordSigned', transaction, nonces, isShared ? transaction.from : undefined),
    accept: async (nonce, burn) => {
      const accepted = await change('accept', nonce, burn, false, undefined)
      return typeof accepted === 'object' ? 'accepted' : accepted
    },
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
    ...grants,
    acceptAwaited: (nonce, burn) =>
      grants.acceptAwaited(nonce, (holder) => change('accept', nonce, burn, true, holder)),

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
