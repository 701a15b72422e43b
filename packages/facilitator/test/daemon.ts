/** The built daemon as its own process, from its first line to its end. */

import { until } from '../../../test/support/until.js'
import { type Ended, startCommand } from './command.js'

export type LogLine = { event: string; url?: string; message?: string; profile?: string; err?: unknown }

export const linesOf = (stdout: string): LogLine[] =>
  stdout
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line))

/** `task` gets the daemon's URL, its log up to now and its process id; then it is told to stop. Throws when it ends before. */
export async function withDaemon(
  file: string,
  env: Record<string, string>,
  task: (url: string, log: LogLine[], pid: number) => Promise<void>,
): Promise<Ended> {
  const daemon = startCommand(['start', '--config', file], env)
  let early: Ended | undefined
  void daemon.ended.then((ended) => {
    early = ended
  })
  const log = () => linesOf(daemon.output.stdout)
  const { url = '' } = await until(() => {
    if (early) throw new Error(`the daemon ended with ${early.code}: ${early.stderr}`)
    return log().find(({ event }) => event === 'facilitator.listening')
  })
  try {
    await task(url, log(), daemon.pid)
  } finally {
    daemon.signal('SIGTERM')
  }
  return daemon.ended
}
