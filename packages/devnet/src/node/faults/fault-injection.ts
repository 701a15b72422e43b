import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonRpcCall, Outcome } from '../rpc/json-rpc-server.js'
import { RpcError, rpcErrorCodes } from '../rpc/rpc-error.js'
import type { FaultEffect, Faults } from './faults.js'
import { answerWithLag } from './lag.js'

type Request = (method: string, params: readonly unknown[]) => Promise<unknown>

/** Answers calls like the node, except where a fault strikes. */
export function createFaultInjection(dependencies: {
  faults: Faults
  request: Request
}): (call: JsonRpcCall) => Promise<Outcome> {
  const { faults, request } = dependencies
  return async ({ method, params }) => {
    const { delayMs, effect } = faults.strike(method)
    if (delayMs > 0) await sleep(delayMs)
    if (effect === undefined) return { kind: 'result', value: await request(method, params) }
    if (effect.kind === 'lag') {
      const value = await answerWithLag({ method, params, blocks: effect.blocks, request })
      return { kind: 'result', value }
    }
    if (effect.executed ?? effect.kind === 'dropResponse') await executed(request(method, params))
    return outcomeOf(effect)
  }
}

// Runs the call and ignores its outcome, because the caller never gets the answer.
async function executed(answer: Promise<unknown>): Promise<void> {
  try {
    await answer
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
  }
}

function outcomeOf(effect: Exclude<FaultEffect, { kind: 'delay' | 'lag' }>): Outcome {
  switch (effect.kind) {
    case 'result':
      return { kind: 'result', value: effect.value }
    case 'error': {
      const { code = rpcErrorCodes.server, message = 'injected fault', data } = effect
      return { kind: 'error', error: new RpcError(code, message, data) }
    }
    case 'httpStatus':
      return { kind: 'httpStatus', status: effect.status }
    default:
      return { kind: effect.kind }
  }
}
