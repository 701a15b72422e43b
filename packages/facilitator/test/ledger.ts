/** A ledger without a journal, as `settlement.journal = "none"` gives it. */
import type { Clock } from '@svc-zerc20/protocol'
import type { StepSettings } from '../src/store/steps/step-context.js'
import { createMemoryStore } from './store.js'

export function createMemoryLedger({ clock, ...settings }: { clock: Clock } & Partial<StepSettings>) {
  return createMemoryStore(clock, settings).ledger
}
