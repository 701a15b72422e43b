/**
 * `approve`: the human's terminal, for payments that wait elsewhere. A terminal is required, so that a yes
 * cannot be piped in.
 */
import { dirname } from 'node:path'
import { type Clock, SvcError } from '@svc-zerc20/protocol'
import { exitCodes } from '../payer-error.js'
import { type ApprovalRequest, textOf } from '../policy/approval.js'
import { answerQuestion, listQuestions } from '../policy/approval-folder.js'
import { createTerminalApprover } from '../policy/approval-terminal.js'
import type { Io, Report } from './output.js'

export async function approve(
  folder: string,
  { id, list }: { readonly id: string | undefined; readonly list: boolean },
  io: Io,
  clock: Clock,
): Promise<Report> {
  const waiting = await listQuestions(folder, clock)
  const chosen = waiting.filter(({ challengeNonce }) => id === undefined || challengeNonce.startsWith(id))
  if (list) return listed(chosen, folder)
  if (chosen.length === 0) {
    return { exitCode: exitCodes.ok, result: { answered: [] }, text: noneIn(folder) }
  }
  if (io.terminal === undefined) {
    throw new SvcError(
      'payer_misconfigured',
      'approve needs a terminal: a human reads the question and types the answer',
    )
  }
  const ask = createTerminalApprover({ input: io.terminal, output: io.stderr })
  const answered: { challengeNonce: string; isApproved: boolean }[] = []
  for (const request of chosen) {
    const isYes = await ask(request, new AbortController().signal)
    const isInTime = await answerQuestion(folder, request, isYes, clock)
    if (!isInTime) io.stderr.write('too late: nobody waits for this answer any more\n')
    answered.push({ challengeNonce: request.challengeNonce, isApproved: isYes && isInTime })
  }
  const text = answered.map(
    ({ challengeNonce, isApproved }) => `${isApproved ? 'approved' : 'refused'} ${challengeNonce}\n`,
  )
  return { exitCode: exitCodes.ok, result: { answered }, text: text.join('') }
}

/** It may wait in another folder: that of a process that was started with other settings. */
const noneIn = (folder: string) => `no payment waits for approval in ${dirname(folder)} (SVC_STATE_DIR)\n`

function listed(waiting: readonly ApprovalRequest[], folder: string): Report {
  const text = waiting.map((request) => `${request.challengeNonce}\n${textOf(request)}\n`).join('\n')
  return { exitCode: exitCodes.ok, result: { waiting }, text: text || noneIn(folder) }
}
