/** `finalize.mode = "single"`: every burn is minted by a proof of its own, after a random delay. */
import type { AcceptedBurn, Facilitator } from './facilitator.js'
import type { Random } from './random.js'

/** One proof on one core. */
const proofSeconds = 2

export function createSingle(delayMaxSeconds: number): (random: Random) => Facilitator {
  return (random) => {
    const waiting: { readonly burn: AcceptedBurn; readonly dueAt: number }[] = []
    let proverFreeAt = 0
    return {
      accept(burn) {
        waiting.push({ burn, dueAt: burn.now + random.fraction() * delayMaxSeconds })
      },
      mint(now, rootSize) {
        if (now < proverFreeAt) return []
        const ready = waiting.filter(({ burn, dueAt }) => dueAt <= now && burn.leaf < rootSize)
        // The order of mints is drawn, as the daemon does.
        const next = ready[Math.floor(random.fraction() * ready.length)]
        if (next === undefined) return []
        waiting.splice(waiting.indexOf(next), 1)
        proverFreeAt = now + proofSeconds
        return [{ value: next.burn.value, rootSize, burns: [next.burn.leaf] }]
      },
    }
  }
}
