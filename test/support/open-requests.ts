import { subscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'

/** By host and port. */
const open = new Map<string, number>()

subscribe('http.client.request.start', (message) => {
  const { request } = message as { request: ClientRequest }
  const host = `${request.getHeader('host')}`
  const add = (count: number) => open.set(host, (open.get(host) ?? 0) + count)
  add(1)
  request.once('close', () => add(-1))
})

/** How many requests of this process to that server, made with `node:http`, have no answer yet. */
export const openRequestsTo = (url: string): number => open.get(new URL(url).host) ?? 0
