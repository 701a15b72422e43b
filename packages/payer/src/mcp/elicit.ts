/** Asks the human behind an MCP client, if the client can do that. No tool can answer the question. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Clock } from '@svc-zerc20/protocol'
import { type ApprovalRequest, type Approver, textOf } from '../policy/approval.js'

/** The call that pays right now, and the client that made it. */
export type Caller = {
  readonly server: Server
  readonly requestId: string | number
}

const callers = new AsyncLocalStorage<Caller>()

/** Runs a call, so that questions about its payment reach its own client. */
export const callingAs = <T>(caller: Caller, work: () => Promise<T>): Promise<T> => callers.run(caller, work)

const question = (request: ApprovalRequest) =>
  `A payment needs your approval:\n${textOf(request)}\nWithout your yes nothing is signed.`

/** Rejects if the client cannot ask. The other ways to approve remain. */
export const createElicitApprover =
  (clock: Clock): Approver =>
  async (request, signal) => {
    const caller = callers.getStore()
    if (!caller || !canAsk(caller.server)) throw new Error('this client cannot ask a human')
    const answer = await caller.server.elicitInput(
      {
        message: question(request),
        requestedSchema: {
          type: 'object',
          properties: {
            approve: {
              type: 'boolean',
              title: 'Pay',
              description: 'Yes pays exactly this, once.',
              default: false,
            },
          },
          required: ['approve'],
        },
      },
      { signal, timeout: Math.max(1, request.until - clock.now()), relatedRequestId: caller.requestId },
    )
    return answer.action === 'accept' && answer.content?.approve === true
  }

/** Whether a client can ask its human. Many cannot. */
export const canAsk = (server: Server): boolean => server.getClientCapabilities()?.elicitation !== undefined
