import { RpcError, rpcErrorCodes } from '../rpc/rpc-error.js'

/** The kinds of fault. */
export type FaultEffect =
  /** The answer comes late. */
  | { kind: 'delay'; delayMs: number }
  /** The answer never comes and the connection stays open. */
  | { kind: 'hang'; executed?: boolean }
  /** A proxy in front of the node answers for it. */
  | { kind: 'httpStatus'; status: number; executed?: boolean }
  /** The node answers a JSON-RPC error. */
  | { kind: 'error'; code?: number; message?: string; data?: unknown; executed?: boolean }
  /** The connection breaks. The node has executed the call, unless `executed` is false. */
  | { kind: 'dropResponse'; executed?: boolean }
  /** The node answers with this value, such as a `null` receipt or another chain id. */
  | { kind: 'result'; value: unknown; executed?: boolean }
  /** The node answers from a state that is this many blocks old. */
  | { kind: 'lag'; blocks: number }

/** A fault and the calls it strikes. */
export type Fault = FaultEffect & {
  /** A method name, or `*` for all. */
  method: string
  /** Number of calls that the fault strikes. Default: all. */
  times?: number
  /** Number of matching calls that pass first. */
  skip?: number
  /** Probability of a strike. With the same seed, the same calls are struck. */
  probability?: number
}

/** The faults in force. */
export type Faults = {
  set(faults: readonly Fault[], options?: { seed?: number }): void
  /** The faults that strike this call: all delays added up, and the first other effect. */
  strike(method: string): { delayMs: number; effect: Exclude<FaultEffect, { kind: 'delay' }> | undefined }
}

/** Creates a list of faults that is empty. */
export function createFaults(): Faults {
  let armed: { fault: Fault; left: number; skip: number }[] = []
  let random = seededRandom(0)

  function strikes(entry: (typeof armed)[number]): boolean {
    if (entry.left === 0) return false
    if (entry.skip > 0) {
      entry.skip -= 1
      return false
    }
    if (entry.fault.probability !== undefined && random() >= entry.fault.probability) return false
    entry.left -= 1
    return true
  }

  return {
    set(faults, { seed = 0 } = {}) {
      random = seededRandom(seed)
      armed = faults.map((fault) => ({
        fault,
        left: fault.times ?? Number.POSITIVE_INFINITY,
        skip: fault.skip ?? 0,
      }))
    },
    strike(method) {
      let delayMs = 0
      for (const entry of armed) {
        const { fault } = entry
        if ((fault.method !== '*' && fault.method !== method) || !strikes(entry)) continue
        if (fault.kind !== 'delay') return { delayMs, effect: fault }
        delayMs += fault.delayMs
      }
      return { delayMs, effect: undefined }
    },
  }
}

/** Reads faults from JSON. Throws "invalid params" with the index of the first malformed one. */
export function parseFaults(input: unknown): Fault[] {
  if (!Array.isArray(input)) throw new RpcError(rpcErrorCodes.invalidParams, 'faults: expected a list')
  return input.map((fault: unknown, index) => {
    if (isFault(fault)) return fault
    throw new RpcError(rpcErrorCodes.invalidParams, `faults[${index}]: not a fault`)
  })
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0
const isOptionalCount = (value: unknown) => value === undefined || isCount(value)

const effectChecks: Record<FaultEffect['kind'], (fault: Record<string, unknown>) => boolean> = {
  delay: ({ delayMs }) => isCount(delayMs),
  hang: () => true,
  httpStatus: ({ status }) => isCount(status) && Number(status) >= 200 && Number(status) <= 599,
  error: ({ code, message }) =>
    (code === undefined || Number.isSafeInteger(code)) &&
    (message === undefined || typeof message === 'string'),
  dropResponse: () => true,
  result: (fault) => 'value' in fault,
  lag: ({ blocks }) => isCount(blocks),
}

function isFault(input: unknown): input is Fault {
  if (typeof input !== 'object' || input === null) return false
  const fault = input as Record<string, unknown>
  const { method, kind, times, skip, probability, executed } = fault
  return (
    typeof method === 'string' &&
    typeof kind === 'string' &&
    Object.hasOwn(effectChecks, kind) &&
    effectChecks[kind as FaultEffect['kind']](fault) &&
    isOptionalCount(times) &&
    isOptionalCount(skip) &&
    (probability === undefined ||
      (typeof probability === 'number' && probability >= 0 && probability <= 1)) &&
    (executed === undefined || typeof executed === 'boolean')
  )
}

/** A reproducible source of numbers in [0, 1): a linear congruential generator with Knuth's 64-bit constants. */
function seededRandom(seed: number): () => number {
  let state = BigInt.asUintN(64, BigInt(Math.trunc(seed)) ^ 0x9e3779b97f4a7c15n)
  return () => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n)
    return Number(state >> 32n) / 2 ** 32
  }
}
