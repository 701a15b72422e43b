/**
 * Answers a call whose payment waits for a human. A client gives up on a call after a minute, and a human may take two. Such a
 * call is answered early and goes on by itself; the same call again joins it, or gets what it bought.
 */
import type { Clock } from '@svc-zerc20/protocol'
import type { ApprovalRequest } from '../policy/approval.js'
import { approvalNeeded, type Ended } from './tool-answers.js'

/** How long a call waits for a quick human before it is answered: at most this, and a part of the human's own time. */
const patienceMsMax = 15_000
const patiencePart = 4

/** Tells the question that a call waits for now; undefined when it waits for no human. */
export type WaitsFor = (question: ApprovalRequest | undefined) => void

export async function answerInTime(
  clock: Clock,
  work: (waitsFor: WaitsFor) => Promise<Ended>,
): Promise<Ended> {
  const answered = new AbortController()
  let open: ApprovalRequest | undefined
  let tell: (ended: Ended) => void = () => undefined
  const early = new Promise<Ended>((resolve) => {
    tell = resolve
  })
  const ended = work(async (question) => {
    open = question
    if (question === undefined) return
    const humanMs = Math.max(0, question.until - clock.now())
    await clock.sleep(Math.min(patienceMsMax, humanMs / patiencePart), answered.signal)
    if (open === question) tell({ answer: approvalNeeded(question) })
  })
  try {
    const first = await Promise.race([ended, early.then(() => undefined)])
    if (first) return first
    // Nobody waits for this call: what it buys is on the disk until somebody asks again, in this process or another.
    ended.then(({ purchase }) => purchase?.keepForLater()).catch(() => undefined)
    return await early
  } finally {
    answered.abort()
  }
}
