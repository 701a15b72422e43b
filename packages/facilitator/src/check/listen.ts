/** Checks that the daemon's listen address is free. */
import { createServer } from 'node:net'
import type { PartialConfig } from '../config/config.js'
import type { Finding } from '../finding.js'

export async function probeListen({ host, port }: PartialConfig['listen']): Promise<Finding[]> {
  // Port 0 means any free port, so there is nothing to check.
  if (host === undefined || port === undefined || port === 0) return []
  const code = await bind(host, port)
  if (code === undefined) return [{ level: 'ok', key: 'listen.port', message: `${port} at ${host} is free` }]
  if (code === 'EADDRINUSE') {
    const message = `${port} at ${host} is in use by another process, perhaps by a daemon that runs`
    return [{ level: 'fail', key: 'listen.port', message, start: 'later' }]
  }
  const key = code === 'EACCES' ? 'listen.port' : 'listen.host'
  return [{ level: 'fail', key, message: `cannot listen at ${host} port ${port} (${code})` }]
}

/** Listens for a moment. Returns the error code when that fails. */
function bind(host: string, port: number): Promise<string | undefined> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', ({ code = 'unknown error' }: NodeJS.ErrnoException) => resolve(code))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}
