/**
 * Purchases that run, each under the key of its request from its start. The same request again joins the one that runs, so that
 * nobody is asked twice and nothing burns twice. A caller that leaves gets its control back at once. A purchase that all its
 * callers have left ends there if nothing is signed for it; otherwise it goes on, and what it brings is kept for the next
 * request.
 */
import { isSigned as isSignedRecord } from '../state/payments.js'
import type { Bought, PayStep } from './bought.js'

/**
 * Who waits for a purchase. The signal of its request ends the waiting. The request itself is held here: a signal hears nothing any
 * more once its request is collected.
 */
export type Caller = { readonly request: Request; readonly onStep: (step: PayStep) => void }

/** What a purchase gets: the signal comes when all callers have left, and steps go to those who wait. */
export type Run = { readonly signal: AbortSignal; readonly onStep: (step: PayStep) => void }

export type RunningPurchases = {
  /** Runs a purchase, or joins the one that runs. */
  run(key: string, caller: Caller, buy: (run: Run) => Promise<Bought>): Promise<Bought>
}

type Waiting = {
  readonly caller: Caller
  /** The answer, or `unshared`: it cost nothing, or nobody was left who wanted it. */
  readonly resolve: (bought: Bought | 'unshared') => void
  readonly reject: (error: unknown) => void
}

type Running = {
  readonly starter: Caller
  readonly waiting: Set<Waiting>
  readonly over: AbortController
  step: PayStep
}

export function createRunningPurchases(): RunningPurchases {
  const running = new Map<string, Running>()

  async function buyFor(key: string, run: Running, buy: (run: Run) => Promise<Bought>): Promise<void> {
    const { waiting, over } = run
    const onStep = (step: PayStep) => {
      run.step = step
      // All may have left while a signed payment was looked at, which is over by now.
      endIfLeft(run)
      for (const { caller } of waiting) tell(caller, step)
    }
    try {
      const bought = await buy({ signal: over.signal, onStep })
      const isLeft = waiting.size === 0
      // It still runs until it is kept: a caller that comes meanwhile finds it then.
      if (isLeft) await bought.keepForLater()
      running.delete(key)
      share(run, isLeft ? undefined : bought)
    } catch (error) {
      running.delete(key)
      fail(run, error)
    }
  }

  function begin(key: string, starter: Caller, buy: (run: Run) => Promise<Bought>): Running {
    const run: Running = {
      starter,
      waiting: new Set(),
      over: new AbortController(),
      step: { step: 'asking' },
    }
    running.set(key, run)
    void buyFor(key, run, buy)
    return run
  }

  return {
    async run(key, caller, buy) {
      for (;;) {
        caller.request.signal.throwIfAborted()
        tell(caller, running.get(key)?.step ?? { step: 'asking' })
        const bought = await answerTo(running.get(key) ?? begin(key, caller, buy), caller)
        if (bought !== 'unshared') return bought
      }
    },
  }
}

/** Waits for the end of a purchase, or for the caller to leave. */
async function answerTo(run: Running, caller: Caller): Promise<Bought | 'unshared'> {
  const { signal } = caller.request
  const answered = new AbortController()
  try {
    return await new Promise<Bought | 'unshared'>((resolve, reject) => {
      const waiting = { caller, resolve, reject }
      const leave = () => {
        run.waiting.delete(waiting)
        endIfLeft(run)
        reject(signal.reason)
      }
      run.waiting.add(waiting)
      signal.addEventListener('abort', leave, { signal: answered.signal })
    })
  } finally {
    answered.abort()
  }
}

/** Ends a purchase that all have left, unless money may move for it whoever leaves. */
function endIfLeft({ step, waiting, over }: Running): void {
  const isSigned =
    step.step === 'resuming' ? isSignedRecord(step.record) : ['signing', 'presenting'].includes(step.step)
  if (waiting.size === 0 && !isSigned) over.abort()
}

/** A caller that fails to hear a step ends no purchase, neither its own nor that of others. */
function tell({ onStep }: Caller, step: PayStep): void {
  try {
    onStep(step)
  } catch {
    // It is the caller's own error, and money may be on its way.
  }
}

/**
 * Gives the answer to everybody who waits. One that cost nothing is for the starter alone: the same request, made twice without
 * a price, is two requests.
 */
function share({ waiting, starter }: Running, bought: Bought | undefined): void {
  const isShared = bought?.payment !== undefined
  const once = bought && handedOnce(bought)
  const [first, ...others] = [...waiting].filter(({ caller }) => isShared || caller === starter)
  const copies = others.map(() => once && copyOf(once))
  for (const each of waiting) {
    const given = each === first ? once : copies[others.indexOf(each)]
    each.resolve(given ? (each.caller === starter ? given : joined(given)) : 'unshared')
  }
}

/** Tells the error to everybody who waits. One that is only the leave of somebody else is none: they begin anew. */
function fail({ waiting, starter, over }: Running, error: unknown): void {
  const { signal } = starter.request
  const isLeave = over.signal.aborted || (signal.aborted && error === signal.reason)
  for (const { resolve, reject } of waiting) {
    if (isLeave) resolve('unshared')
    else reject(error)
  }
}

/** The answer for one more caller. The copy keeps what `clone` takes from the inside of a response. */
function copyOf({ response, ...bought }: Bought): Bought {
  const { url, redirected, status } = response
  const copy = { url: { value: url }, redirected: { value: redirected }, status: { value: status } }
  return { ...bought, response: Object.defineProperties(response.clone(), copy) }
}

const joined = (bought: Bought): Bought => ({
  ...bought,
  payment: bought.payment && { ...bought.payment, isResumed: true },
})

/** The answer of several callers: handed over to one of them, it is handed over. */
function handedOnce({ handedOver, keepForLater, ...bought }: Bought): Bought {
  let handed: Promise<void> | undefined
  return {
    ...bought,
    handedOver(options) {
      handed ??= handedOver(options)
      return handed
    },
    keepForLater: async () => handed === undefined && keepForLater(),
  }
}
