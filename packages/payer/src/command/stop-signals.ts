/** Signals that ask the process to end, held back while a payment is on its way. */

const signals = ['SIGINT', 'SIGTERM'] as const

export type HeldSignals = {
  /** From now on a signal is only noted. A payment under way ends by itself, within its own bounds. */
  hold(): void
  wasTold(): boolean
  release(): void
}

export function createHeldSignals(onTold: () => void): HeldSignals {
  let isTold = false
  const note = () => {
    if (!isTold) onTold()
    isTold = true
  }
  const release = () => {
    for (const signal of signals) process.off(signal, note)
  }
  return {
    hold() {
      release()
      for (const signal of signals) process.on(signal, note)
    },
    wasTold: () => isTold,
    release,
  }
}

/** A signal that aborts when the process is asked to end. */
export function untilTold(onTold: () => void): AbortSignal {
  const over = new AbortController()
  // A second signal changes nothing: a payment under way ends by itself.
  for (const signal of signals) process.on(signal, () => over.abort())
  over.signal.addEventListener('abort', onTold, { once: true })
  return over.signal
}
