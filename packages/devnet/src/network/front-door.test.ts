import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { listenOnLoopback } from '../node/rpc/loopback.js'
import { openFrontDoor } from './front-door.js'

/** A daemon that answers with its name, or holds its answers back. */
async function startDaemon(name: string, holds = false) {
  let isStandby = false
  const asked = new EventEmitter()
  const server = createServer(({ url }, response) => {
    if (url === '/ready')
      return response.end(JSON.stringify({ problems: isStandby ? [{ part: 'standby' }] : [] }))
    asked.emit('asked')
    return holds || response.end(name)
  })
  const { port, close } = await listenOnLoopback(server, 0)
  onTestFinished(close)
  return {
    url: `http://127.0.0.1:${port}`,
    close,
    asked: once(asked, 'asked'),
    standBy(is: boolean) {
      isStandby = is
    },
  }
}

async function openDoor(...daemons: { url: string }[]) {
  const door = await openFrontDoor(0)
  onTestFinished(() => door.close())
  for (const { url } of daemons) door.add(url)
  // One connection a request.
  const ask = async () => (await fetch(door.url, { headers: { connection: 'close' } })).text()
  return { door, ask }
}

it('leads connections to the daemon that is active', async () => {
  const [one, two] = [await startDaemon('one'), await startDaemon('two')]
  const { ask } = await openDoor(one, two)
  one.standBy(true)
  expect([await ask(), await ask()]).toEqual(['two', 'two'])
  one.standBy(false)
  two.standBy(true)
  expect(await ask()).toBe('one')
})

it('passes a daemon over that is gone', async () => {
  const [one, two] = [await startDaemon('one'), await startDaemon('two')]
  const { ask } = await openDoor(one, two)
  await one.close()
  expect([await ask(), await ask()]).toEqual(['two', 'two'])
  expect(await Promise.all([ask(), ask(), ask()])).toEqual(['two', 'two', 'two'])
})

it('tells a visitor at once when the daemon dies that it was led to, or when there is none', async () => {
  const one = await startDaemon('one', true)
  const { ask } = await openDoor(one)
  const answer = expect(ask()).rejects.toThrow('fetch failed')
  await one.asked
  await one.close()
  await answer
  await expect(ask()).rejects.toThrow('fetch failed')
})
