/**
 * Calls whose payment waits for a human. A client gives up on a call after a minute, and a human may take two. Such a call
 * is answered early and goes on by itself; the same call again gets its answer.
 */
import { createBoundedMap } from '@svc-zerc20/protocol'
import type { ApprovalRequest } from '../approval/approval.js'
import type { Clock } from '../clock.js'
import { approvalNeeded, type ToolAnswer } from './tool-answers.js'

export type WaitingCalls = {
  /**
   * Answers a call. `work` tells when its payment waits for a human. It is not started when the same call goes on already.
   */
  answer(
    key: string,
    work: (onAsked: (request: ApprovalRequest) => void) => Promise<ToolAnswer>,
  ): Promise<ToolAnswer>
}

/** How long a call waits for a quick human before it is answered: at most this, and a part of the human's own time. */
const patienceMsMax = 15_000
const patiencePart = 4
/** Calls that go on without a client. The answer of the oldest is forgotten first. */
const callsMax = 64

type Call = { readonly ended: Promise<ToolAnswer>; readonly asked: Promise<ApprovalRequest> }

export function createWaitingCalls(clock: Clock): WaitingCalls {
  const waiting = createBoundedMap<string, Call>(callsMax)

  function begin(work: Parameters<WaitingCalls['answer']>[1]): Call {
    let tell: (request: ApprovalRequest) => void = () => undefined
    const asked = new Promise<ApprovalRequest>((resolve) => {
      tell = resolve
    })
    return { ended: work(tell), asked }
  }

  return {
    async answer(key, work) {
      const call = waiting.get(key) ?? begin(work)
      const over = new AbortController()
      const early = call.asked.then(async (request) => {
        const humanMs = Math.max(0, request.until - clock.now())
        await clock.sleep(Math.min(patienceMsMax, humanMs / patiencePart), over.signal)
        return approvalNeeded(request)
      })
      try {
        const first = await Promise.race([call.ended.then((answer) => ({ answer })), early])
        if ('answer' in first) {
          waiting.delete(key)
          return first.answer
        }
        waiting.set(key, call)
        return first
      } finally {
        over.abort()
      }
    },
  }
}
