/** The operator's switch for issuance: new challenges can be paused while everything under way goes on. */
import { reject } from '@svc-zerc20/protocol'
import type { Report } from '../report.js'
import type { IssueChallenge } from './challenge.js'

/** The operator's words to callers, if there are any. */
export type Pause = { readonly words?: string | undefined }

export type Issuance = {
  isPaused(): boolean
  /** Pauses issuance and tells callers the operator's words. A restart changes nothing about it. */
  pause(words?: string): Promise<void>
  resume(): Promise<void>
  /** The same way to issue, closed while paused. */
  gate(issue: IssueChallenge): IssueChallenge
}

/** Remembers a pause over restarts. */
export type PauseMemory = {
  /** The pause of the last run. */
  readonly paused: Pause | undefined
  set(pause: Pause | undefined): Promise<void>
}

export function createIssuance({ report, memory }: { report: Report; memory: PauseMemory }): Issuance {
  let paused = memory.paused
  return {
    isPaused: () => paused !== undefined,
    async pause(words) {
      await memory.set({ words })
      if (!paused) report({ event: 'issuance.paused' })
      paused = { words }
    },
    async resume() {
      await memory.set(undefined)
      if (paused) report({ event: 'issuance.resumed' })
      paused = undefined
    },
    gate:
      (issue) =>
      async (...asked) =>
        paused ? reject('issuance_paused', messageOf(paused)) : issue(...asked),
  }
}

const messageOf = ({ words }: Pause): string | undefined =>
  words === undefined ? undefined : `paused by the operator: ${words}`
