/** The Next application beside this file, run by `next dev` as a process of its own. */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Interop } from './network.js'
import { secret } from './shops.js'

const application = fileURLToPath(new URL('../next-app', import.meta.url))
const stopMsMax = 10_000

export type NextShop = { readonly url: string; close(): Promise<void> }

export async function openNextShop({ proxy, token }: Interop): Promise<NextShop> {
  const next = createRequire(import.meta.url).resolve('next/dist/bin/next')
  const child = spawn(
    process.execPath,
    [next, 'dev', application, '--hostname', '127.0.0.1', '--port', '0'],
    {
      env: {
        PATH: process.env.PATH ?? '',
        NEXT_TELEMETRY_DISABLED: '1',
        FACILITATOR_URL: proxy.url,
        SHOP_TOKEN: token,
        SHOP_SECRET: secret,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, because it starts workers.
      detached: true,
    },
  )
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const signal = (name: NodeJS.Signals) => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, name)
  }
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString('utf8')
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0]
      if (found !== undefined && output.includes('Ready in')) resolve(found)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', () => reject(new Error(`next ended before it was ready: ${output}`)))
  })
  return {
    url,
    async close() {
      signal('SIGTERM')
      const timer = setTimeout(() => signal('SIGKILL'), stopMsMax)
      await ended
      clearTimeout(timer)
    },
  }
}
