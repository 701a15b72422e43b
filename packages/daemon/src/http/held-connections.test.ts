import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createHeldConnections } from './held-connections.js'

/** A fake socket: after `destroy` it emits `close`, but not at once. */
class HeldSocket extends EventEmitter {
  destroyed = false

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    setImmediate(() => this.emit('close'))
  }
}

const arriving = () => ({ complete: false })
const complete = () => ({ complete: true })

function hold(...callers: string[]) {
  const held = createHeldConnections()
  const sockets = callers.map((caller) => {
    const socket = new HeldSocket() as unknown as Socket & HeldSocket
    held.add(socket, caller)
    return socket
  })
  const at = (place: number): Socket => {
    const socket = sockets[place]
    if (!socket) throw new Error(`no socket ${place}`)
    return socket
  }
  const ended = () => sockets.flatMap(({ destroyed }, place) => (destroyed ? [place] : []))
  return { held, at, ended }
}

describe('the connection that gives way', () => {
  it('is the one that has asked nothing for longest, not the one that was opened first', () => {
    const { held, at, ended } = hold('a', 'b', 'c')
    const request = complete()
    held.begin(at(0), request)
    held.end(at(0), request)
    expect(held.endOldestIdle()).toBe(true)
    expect(ended()).toEqual([1])
  })

  it('is never one in the middle of a request, also when another request on it is over', () => {
    const { held, at, ended } = hold('a', 'b')
    const [first, second] = [complete(), complete()]
    for (const place of [0, 1]) {
      held.begin(at(place), first)
      held.begin(at(place), second)
      held.end(at(place), first)
    }
    expect([held.endOldestIdle(), held.endOldestIdle('a'), ended()]).toEqual([false, false, []])
    held.end(at(1), second)
    expect([held.endOldestIdle('a'), held.endOldestIdle(), ended()]).toEqual([false, true, [1]])
  })

  it('belongs to the caller that is asked for', () => {
    const { held, ended } = hold('a', 'b', 'b')
    expect(held.endOldestIdle('b')).toBe(true)
    expect([ended(), held.countOf('a'), held.countOf('b'), held.count()]).toEqual([[1], 1, 1, 2])
  })

  it('is forgotten at once, and not a second time when it says that it is closed', async () => {
    const { held } = hold('a', 'a')
    held.endOldestIdle()
    expect([held.count(), held.countOf('a')]).toEqual([1, 1])
    await new Promise((resolve) => setImmediate(resolve))
    expect([held.count(), held.countOf('a')]).toEqual([1, 1])
  })

  it('stays forgotten when the answer on it ends later', () => {
    const { held, at } = hold('a')
    at(0).emit('close')
    const request = complete()
    held.begin(at(0), request)
    held.end(at(0), request)
    expect([held.count(), held.endOldestIdle()]).toEqual([0, false])
  })

  it('is one whose request is still arriving, of the caller with the most, when none is idle', () => {
    const { held, at, ended } = hold('a', 'b', 'b', 'b')
    for (const place of [0, 2, 3]) held.begin(at(place), arriving())
    held.begin(at(1), complete())
    expect([held.endLargestArriving('c'), ended()]).toEqual([true, [2]])
  })

  it('is none when the newcomer would have as many, or when the one with the most is being answered', () => {
    const { held, at, ended } = hold('a', 'b', 'b')
    for (const place of [0, 1, 2]) held.begin(at(place), arriving())
    expect([held.endLargestArriving('a'), held.endLargestArriving('b'), ended()]).toEqual([false, false, []])
    for (const place of [1, 2]) held.begin(at(place), complete())
    expect([held.endLargestArriving('c'), ended()]).toEqual([false, []])
  })
})
