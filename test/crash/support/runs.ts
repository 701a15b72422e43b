/** A daemon as a process, to be killed and started again on the same configuration. */
import { developmentRoles, facilitatorCommand } from '@svc-zerc20/devnet'
import { startNode } from '../../support/node-process.js'

/** One run of the daemon. */
export type Run = {
  readonly pid: number
  /** Resolves with the daemon's address when it serves, or stands by. Rejects when it ends before. */
  readonly ready: Promise<string>
  /** Exit code or signal, once it has ended. */
  readonly ended: Promise<string>
  /** The daemon's whole output so far. */
  readonly output: () => string
  signal(signal: NodeJS.Signals): void
}

/** Changes to the previous run's settings. */
export type RunChanges = {
  readonly command?: 'start' | 'check' | 'audit' | 'recover'
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** How far its clock is ahead of ours. */
  readonly aheadMs?: number
}

/** Code that runs before a program, in each of its threads, and moves the time that it sees. */
const movedClock = (aheadMs: number) =>
  `const { Date: Real } = globalThis
  globalThis.Date = class Date extends Real {
    constructor(...args) { super(...(args.length > 0 ? args : [Date.now()])) }
    static now() { return Real.now() + ${aheadMs} }
  }`

export function runDaemon(configFile: string, changes: RunChanges = {}): Run {
  const { command = 'start', args = [], env = {}, aheadMs = 0 } = changes
  const { treasury, relayer } = developmentRoles
  const clock = ['--import', `data:text/javascript,${encodeURIComponent(movedClock(aheadMs))}`]
  const daemon = startNode([...clock, facilitatorCommand, command, '--config', configFile, ...args], {
    SVC_TREASURY_PK: treasury.privateKey,
    SVC_RELAYER_PK: relayer.privateKey,
    ...env,
  })
  const output = () => daemon.output.stdout + daemon.output.stderr
  const ended = daemon.ended.then(({ how }) => how)
  const ready = new Promise<string>((resolve, reject) => {
    daemon.onOutput(() => {
      const { stdout } = daemon.output
      const url = /"event":"facilitator\.listening","url":"([^"]+)"/.exec(stdout)?.[1]
      if (url !== undefined && /"event":"facilitator\.(?:ready|standby)"/.test(stdout)) resolve(url)
    })
    void ended.then((how) => reject(new Error(`the daemon ended with ${how}: ${output()}`)))
  })
  ready.catch(() => undefined)
  return { pid: daemon.pid, ready, ended, output, signal: daemon.signal }
}

/** One daemon, run after run. `first` is a run that was begun by somebody else, and its address. */
export function createRuns(
  configFile: string,
  settingsOf: (changes?: RunChanges) => RunChanges,
  first?: { readonly run: Run; readonly url: string },
) {
  let url = first?.url ?? ''
  let run = first?.run
  const current = (): Run => {
    if (!run) throw new Error('the daemon was never started')
    return run
  }
  return {
    url: () => url,
    run: current,
    /** Starts another run, without waiting until it serves. */
    launch(changes?: RunChanges): Run {
      const launched = runDaemon(configFile, settingsOf(changes))
      run = launched
      launched.ready.then(
        (at) => {
          url = at
        },
        () => undefined,
      )
      return launched
    },
    async restart(changes?: RunChanges): Promise<void> {
      url = await this.launch(changes).ready
    },
    async kill(): Promise<void> {
      current().signal('SIGKILL')
      await current().ended
    },
    async stop(): Promise<void> {
      current().signal('SIGTERM')
      await current().ended
    },
  }
}
