/** The operator's switch for issuance: new challenges can be paused while everything under way goes on. */
import { reject } from '@svc-zerc20/protocol'
import type { Report } from '../report.js'
import type { IssueChallenge } from './challenge.js'

/** The operator's words to callers, if there are any. */
export type Pause = { readonly words?: string | undefined }

export type Issuance = ReturnType<typeof createIssuance>

/** Remembers a pause over restarts. */
export type PauseMemory = {
  /** The pause of the last run. */
  readonly paused: Pause | undefined
  set(pause: Pause | undefined): Promise<void>
}

export function createIssuance({ report, memory }: { report: Report; memory: PauseMemory }) {
  let paused = memory.paused
  return {
    isPaused: () => paused !== undefined,
    /** Pauses issuance and tells callers the operator's words. A restart changes nothing about it. */
    async pause(words?: string): Promise<void> {
      await memory.set({ words })
      if (!paused) report({ event: 'issuance.paused' })
      paused = { words }
    },
    async resume(): Promise<void> {
      await memory.set(undefined)
      if (paused) report({ event: 'issuance.resumed' })
      paused = undefined
    },
    /** The same way to issue, closed while paused. */
    gate:
      (issue: IssueChallenge): IssueChallenge =>
      async (...asked) =>
        paused ? reject('issuance_paused', messageOf(paused)) : issue(...asked),
  }
}

const messageOf = ({ words }: Pause): string | undefined =>
  words === undefined ? undefined : `paused by the operator: ${words}`
