/** The daemons of a local network, each in its own process. */
import type { Child } from './child.js'

export type Daemons = {
  /** Adds a daemon that stops with the network. Returns its URL. */
  add(name: string, daemon: Child): string
  pids(): Readonly<Record<string, number>>
  /** Resolves when a daemon ends by itself, with its name and how. */
  firstEnded(): Promise<string>
}

export function createDaemons(deps: {
  say: (line: string) => void
  onClose: (closer: () => Promise<void>) => void
}): Daemons {
  const daemons = new Map<string, Child>()
  return {
    add(name, daemon) {
      daemons.set(name, daemon)
      deps.onClose(() => daemon.stop())
      deps.say(`${name} at ${daemon.ready.url}`)
      return String(daemon.ready.url)
    },
    pids: () => Object.fromEntries([...daemons].map(([name, { pid }]) => [name, pid])),
    firstEnded: () =>
      Promise.race([
        new Promise<never>(() => undefined),
        ...[...daemons].map(([name, { ended }]) => ended.then((how) => `${name} ended with ${how}`)),
      ]),
  }
}
