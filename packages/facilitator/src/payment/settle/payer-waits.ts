/**
 * Payers whose relayed burns failed on chain. Each failure cost the relayer gas, and only its payer can make
 * a burn fail that was good when it was sent. The payer's next burn therefore waits, twice as long each time.
 */
import { type Address, backOffMs, type Clock, createBoundedMap } from '@svc-zerc20/protocol'

/**
 * Facilitators that relay with the same key share these waits, so that a payer cannot go from one to the
 * next. Each question may be a round trip to a store. A lost wait costs gas, but no payment.
 */
export type PayerWaits = {
  failed(payer: Address): Promise<void>
  /** How long this payer still has to wait; zero when it may go on. */
  waitMs(payer: Address): Promise<number>
}

/** Waits in memory: for one facilitator, and until it ends. */
export function createPayerWaits(deps: {
  clock: Pick<Clock, 'now'>
  firstMs: number
  maxMs: number
  /** After this time without another failure, counted from the end of its wait, a payer begins again. */
  forgetMs: number
  /** Payers remembered; the ones that failed longest ago are forgotten first. */
  payersMax: number
}): PayerWaits {
  const { clock, firstMs, maxMs } = deps
  const waits = createBoundedMap<Address, { readonly failures: number; readonly untilMs: number }>(
    deps.payersMax,
  )

  function failuresOf(payer: Address): number {
    const wait = waits.get(payer)
    return wait && clock.now() < wait.untilMs + deps.forgetMs ? wait.failures : 0
  }

  return {
    async failed(payer) {
      const failures = failuresOf(payer) + 1
      waits.set(payer, { failures, untilMs: clock.now() + backOffMs(failures, firstMs, maxMs) })
    },

    waitMs: async (payer) => Math.max(0, (waits.get(payer)?.untilMs ?? 0) - clock.now()),
  }
}
