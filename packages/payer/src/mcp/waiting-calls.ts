/**
 * Calls whose payment waits for a human. A client gives up on a call after a minute, and a human may take two. Such a call
 * is answered early and goes on by itself; the same call again gets its answer.
 */
import { type Clock, createBoundedMap } from '@svc-zerc20/protocol'
import type { ApprovalRequest } from '../policy/approval.js'
import { approvalNeeded, type Ended } from './tool-answers.js'

export type WaitingCalls = {
  /**
   * Answers a call. `work` tells when its payment waits for a human. It is not started when the same call goes on already.
   */
  answer(key: string, work: (onAsked: (request: ApprovalRequest) => void) => Promise<Ended>): Promise<Ended>
}

/** How long a call waits for a quick human before it is answered: at most this, and a part of the human's own time. */
const patienceMsMax = 15_000
const patiencePart = 4
/** Calls that go on without a client. The answer of the oldest is forgotten first. */
const callsMax = 64

type Call = { readonly ended: Promise<Ended>; readonly asked: Promise<ApprovalRequest> }

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
        return { answer: approvalNeeded(request), isEarly: true }
      })
      try {
        const first = await Promise.race([call.ended, early])
        if (!('isEarly' in first)) waiting.delete(key)
        else if (!waiting.get(key)) waiting.set(key, { ...call, ended: call.ended.then(keptForLater) })
        return first
      } finally {
        over.abort()
      }
    },
  }
}

/** Nobody waits for this call: what it bought is on the disk until somebody asks again, in this process or another. */
async function keptForLater(ended: Ended): Promise<Ended> {
  await ended.purchase?.keepForLater()
  return ended
}
