/** The operator's switch for issuance: new challenges can be paused while everything under way goes on. */
import { reject } from '@svc-zerc20/protocol'
import type { Report } from '../report.js'
import type { IssueChallenge } from './challenge.js'

/** The operator's words to callers, if there are any. */
export type Pause = { readonly words?: string | undefined }

export type Issuance = ReturnType<typeof createIssuance>

/** Remembers a pause over restarts, for all daemons of one database. */
export type PauseMemory = {
  /** The pause in force. */
  now(): Promise<Pause | undefined>
  /** The pause that was in force a moment ago. */
  recent(): Promise<Pause | undefined>
  set(pause: Pause | undefined): Promise<void>
}

export function createIssuance({ report, memory }: { report: Report; memory: PauseMemory }) {
  return {
    isPaused: async () => (await memory.now()) !== undefined,
    /** Pauses issuance and tells callers the operator's words. A restart changes nothing about it. */
    async pause(words?: string): Promise<void> {
      const isNew = (await memory.now()) === undefined
      await memory.set({ words })
      if (isNew) report({ event: 'issuance.paused' })
    },
    async resume(): Promise<void> {
      const wasPaused = (await memory.now()) !== undefined
      await memory.set(undefined)
      if (wasPaused) report({ event: 'issuance.resumed' })
    },
    /** Issues as `issue` does, unless paused. */
    gate:
      (issue: IssueChallenge): IssueChallenge =>
      async (...asked) => {
        const paused = await memory.recent()
        return paused ? reject('issuance_paused', messageOf(paused)) : issue(...asked)
      },
  }
}

const messageOf = ({ words }: Pause): string | undefined =>
  words === undefined ? undefined : `paused by the operator: ${words}`
