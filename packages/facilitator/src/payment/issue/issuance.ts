/** The operator's switch for issuance: new challenges can be paused while everything under way goes on. */
import { reject } from '@svc-zerc20/protocol'
import type { Report } from '../report.js'
import type { IssueChallenge } from './challenge.js'

export type Issuance = {
  isPaused(): boolean
  /**
   * Pauses issuance and tells callers the operator's words. Not durable: the daemon always starts with
   * issuance open.
   */
  pause(words?: string): void
  resume(): void
  /** The same way to issue, closed while paused. */
  gate(issue: IssueChallenge): IssueChallenge
}

export function createIssuance({ report }: { report: Report }): Issuance {
  let paused: { readonly words: string | undefined } | undefined
  return {
    isPaused: () => paused !== undefined,
    pause(words) {
      if (!paused) report({ event: 'issuance.paused' })
      paused = { words }
    },
    resume() {
      if (paused) report({ event: 'issuance.resumed' })
      paused = undefined
    },
    gate: (issue) => async (listPrice, asker) =>
      paused ? reject('issuance_paused', messageOf(paused)) : issue(listPrice, asker),
  }
}

const messageOf = ({ words }: { words: string | undefined }): string | undefined =>
  words === undefined ? undefined : `paused by the operator: ${words}`
