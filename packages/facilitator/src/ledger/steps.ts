/**
 * Steps that change the ledger run side by side. A look that must see the ledger without a half-done step waits until
 * none runs, and keeps new steps waiting for that moment.
 */
import type { EventLedger } from './ledger.js'

export type LedgerSteps = {
  /** Runs a step beside all others. A step must not start another one: it would wait for itself. */
  run<T>(step: () => Promise<T>): Promise<T>
  /** Runs a look while no step runs. The look is synchronous, so that steps do not wait for long. */
  alone<T>(look: () => T): Promise<T>
  /** How many steps run now. */
  running(): number
}

export function createLedgerSteps(): LedgerSteps {
  let running = 0
  /** Resolves when steps may run again. */
  let closed: Promise<void> | undefined
  let onIdle = () => {}
  return {
    running: () => running,

    async run(step) {
      while (closed) await closed
      running += 1
      try {
        return await step()
      } finally {
        running -= 1
        if (running === 0) onIdle()
      }
    },

    async alone(look) {
      while (closed) await closed
      let open = () => {}
      closed = new Promise((resolve) => {
        open = resolve
      })
      try {
        if (running > 0) {
          await new Promise<void>((resolve) => {
            onIdle = resolve
          })
        }
        return look()
      } finally {
        onIdle = () => {}
        closed = undefined
        open()
      }
    },
  }
}

/** The ledger with every change as a step. */
export function inSteps(ledger: EventLedger, { run }: Pick<LedgerSteps, 'run'>): EventLedger {
  return {
    ...ledger,
    issue: (...given) => run(() => ledger.issue(...given)),
    claim: (...given) => run(() => ledger.claim(...given)),
    release: (...given) => run(() => ledger.release(...given)),
    recordSigned: (...given) => run(() => ledger.recordSigned(...given)),
    accept: (...given) => run(() => ledger.accept(...given)),
    demote: (...given) => run(() => ledger.demote(...given)),
    moveBurn: (...given) => run(() => ledger.moveBurn(...given)),
    recordMintSigned: (...given) => run(() => ledger.recordMintSigned(...given)),
    finalize: (...given) => run(() => ledger.finalize(...given)),
    recordLate: (...given) => run(() => ledger.recordLate(...given)),
    recordUnmatched: (...given) => run(() => ledger.recordUnmatched(...given)),
    recordSweepSigned: (...given) => run(() => ledger.recordSweepSigned(...given)),
    recordSweepFound: (...given) => run(() => ledger.recordSweepFound(...given)),
    endSweep: (...given) => run(() => ledger.endSweep(...given)),
    recordDistributionSigned: (...given) => run(() => ledger.recordDistributionSigned(...given)),
    endDistribution: (...given) => run(() => ledger.endDistribution(...given)),
    async takeGrant(...given) {
      // Waiting for a grant changes nothing and may take long. Using the grant is the step.
      const grant = await ledger.takeGrant(...given)
      return typeof grant === 'string' ? grant : { ...grant, use: () => run(() => grant.use()) }
    },
  }
}
