/** An operator's hand on the tap: new challenges can be paused while everything under way goes on. */
import { reject } from '@svc-zerc20/protocol'
import type { IssueChallenge } from './challenge.js'
import type { Report } from './ports.js'

export type Issuance = {
  isPaused(): boolean
  /** Not durable: the daemon always starts with issuance open. */
  pause(): void
  resume(): void
  /** The same way to issue, closed while paused. */
  gate(issue: IssueChallenge): IssueChallenge
}

export function createIssuance({ report }: { report: Report }): Issuance {
  let paused = false
  return {
    isPaused: () => paused,
    pause() {
      if (!paused) report({ event: 'issuance.paused' })
      paused = true
    },
    resume() {
      if (paused) report({ event: 'issuance.resumed' })
      paused = false
    },
    gate: (issue) => async (listPrice, asker) =>
      paused ? reject('issuance_paused') : issue(listPrice, asker),
  }
}
