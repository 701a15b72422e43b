/** The operator's switch for issuance: new challenges can be paused while everything under way goes on. */
import type { Ledger } from '../ledger-port.js'
import type { Report } from '../report.js'

export type Issuance = ReturnType<typeof createIssuance>

export function createIssuance(deps: { report: Report; ledger: Pick<Ledger, 'pause' | 'setPause'> }) {
  const { report, ledger } = deps
  const isPaused = async () => (await ledger.pause()) !== undefined
  return {
    isPaused,
    /** Pauses issuance and tells callers the operator's words. A restart changes nothing about it. */
    async pause(words?: string): Promise<void> {
      const isNew = !(await isPaused())
      await ledger.setPause({ words })
      if (isNew) report({ event: 'issuance.paused' })
    },
    async resume(): Promise<void> {
      const wasPaused = await isPaused()
      await ledger.setPause(undefined)
      if (wasPaused) report({ event: 'issuance.resumed' })
    },
  }
}
