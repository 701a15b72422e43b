/** The ledger of the payment flow on the store. */
import { createHmac } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { Ledger } from '../../payment/ledger-port.js'
import type { Clock } from '../../payment/ports.js'
import type { FeeLedger } from '../../payment/sweep/ports.js'
import type { StepSettings } from '../steps/step-context.js'
import { hasRoom, isForgotten, openClaims } from '../steps/steps.js'
import type { Store } from '../store.js'
import {
  type AwaitingPlace,
  awaitingMint,
  demotedPayments,
  feesDue,
  findPayment,
  findPayments,
  interrupted,
  openDistributions,
  openSweeps,
  orphaned,
  swept,
  unsignedClaims,
} from './flow-questions.js'
import { createGrants, type Holds } from './grants.js'

/** Rows that are read in one go from a list without an end. */
const rowsAtOnce = 256

export type StoreLedger = Ledger & FeeLedger

export function createStoreLedger({
  store,
  clock,
  settings,
  askerOf,
}: {
  readonly store: Store
  readonly clock: Clock
  readonly settings: StepSettings
  /** The name of a caller in the store. */
  readonly askerOf: (key: string | undefined) => string | undefined
}): StoreLedger {
  const { change, ask } = store
  const context = () => ({ now: Math.floor(clock.now() / 1000) as never, settings })

  const find = async (nonce: ChallengeNonce) => {
    const payment = await ask(findPayment(nonce))
    return payment && !isForgotten(payment, context()) ? payment : undefined
  }

  return {
    isFull: async (key) => !(await ask(hasRoom(context(), askerOf(key)))),
    issue: (challenge, key) => change('issue', challenge, askerOf(key)),
    claim: (nonce, payload, ticketed = false, means, sender) =>
      change('claim', nonce, payload, ticketed, means, sender),
    openClaims: (payer) => ask(openClaims(payer)),
    release: (nonce, why) => change('release', nonce, why),
    findTogether: (nonces) => ask(findPayments(nonces)),
    unsigned: () => ask(unsignedClaims()),
    adopt: (nonces, sender) => change('adopt', nonces, sender),
    orphaned: (account) => ask(orphaned(account)),
    interrupted: (account) => ask(interrupted(account)),
    recordSigned: (transaction, nonces) => change('recordSigned', transaction, nonces),
    accept: (nonce, burn) => change('accept', nonce, burn),
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
    ...createGrants({
      find,
      use: (nonces) => change('useGrants', nonces, store.leases.holder),
      closed: store.closed,
      clock,
      holds: store.leases.holder === undefined ? undefined : holdsOf(store, store.leases.holder),
    }),

    feesDue: (terms) => ask(feesDue(terms)),
    recordSweepSigned: (sweep, transaction) => change('recordSweepSigned', sweep, transaction),
    endSweep: ({ transactions }, end) => change('endSweep', transactions[0]?.txNonce ?? -1, end),
    recordSweepFound: (sweep, transfer) => change('recordSweepFound', sweep, transfer),
    openSweeps: () => ask(openSweeps()),
    swept: () => ask(swept()),
    recordDistributionSigned: (transaction) => change('recordDistributionSigned', transaction),
    endDistribution: (txNonce) => change('endDistribution', txNonce),
    openDistributions: () => ask(openDistributions()),
  }
}

const holdsOf = ({ change }: Store, holder: string): Holds => ({
  take: (nonce) => change('takeHold', nonce, holder),
  end: (nonce) => change('endHold', nonce, holder),
})

const askerBytes = 16

/** Names callers by a hash under a secret: their addresses are not written to the disk. */
export function createAskers(secret: Uint8Array): (key: string) => string {
  return (key) =>
    createHmac('sha256', secret)
      .update(key)
      .digest('hex')
      .slice(0, 2 * askerBytes)
}
