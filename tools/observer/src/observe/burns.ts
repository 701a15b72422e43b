/** Which transfers can be burns: their receivers never sent anything and earned no mint. */
import type { ChainView, Transfer } from '../chain-view.js'

const nobody = `0x${'0'.repeat(40)}`

export function possibleBurns({ transfers, mints }: ChainView): readonly Transfer[] {
  const alive = new Set([...transfers.map(({ from }) => from), ...mints.map(({ to }) => to), nobody])
  return transfers.filter(({ from, to, value }) => from !== nobody && value > 0n && !alive.has(to))
}
