import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { freePort, startOn } from './wanted-port.js'

const servers: Server[] = []
const listen = (port: number) =>
  new Promise<number>((resolve, reject) => {
    const server = createServer()
    servers.push(server)
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

it('a part gets the preferred port when it is free', async () => {
  const preferred = await freePort()
  expect(await startOn({ preferred }, listen)).toBe(preferred)
})

it('a part gets another port when the preferred one is taken', async () => {
  const preferred = await listen(0)
  expect(await startOn({ preferred }, listen)).not.toBe(preferred)
})

it('a part gets another port when somebody takes the preferred one while the part starts', async () => {
  const preferred = await freePort()
  const tried: number[] = []
  const got = await startOn({ preferred }, async (port) => {
    tried.push(port)
    if (port === preferred) await listen(preferred)
    return listen(port)
  })
  expect(tried).toEqual([preferred, got])
})

it('a part that fails for another reason is not started twice', async () => {
  const preferred = await freePort()
  let starts = 0
  const start = async () => {
    starts += 1
    throw new Error('no keys')
  }
  await expect(startOn({ preferred }, start)).rejects.toThrow('no keys')
  expect(starts).toBe(1)
})

it('a port that has to be this one is never another', async () => {
  const taken = await listen(0)
  await expect(startOn(taken, listen)).rejects.toThrow('EADDRINUSE')
})
