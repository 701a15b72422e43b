import { afterEach, expect, test } from 'vitest'
import { type NodeProcess, startNode } from '../../../test/support/node-process.js'
import { until } from '../../../test/support/until.js'
import { indexerCommand } from '../test/command.js'
import { startWorld, type World } from '../test/world.js'

let world: World | undefined
let indexer: NodeProcess | undefined

afterEach(async () => {
  indexer?.signal('SIGKILL')
  await indexer?.ended
  await world?.close()
})

const eventsOf = (stdout: string): string[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { event: string }).event)

test.each(['SIGTERM', 'SIGINT'] as const)(
  'on %s it ends with code 0 and its last lines in order',
  async (signal) => {
    world = await startWorld()
    const started = startNode(indexerCommand(world))
    indexer = started
    await until(async () => started.output.stdout.includes('indexer.ready'))
    started.signal(signal)
    const { code, stdout, stderr } = await started.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const events = eventsOf(stdout)
    // A step of the sync that was under way may still be told in between.
    expect(events.filter((event) => /^indexer\.stop/.test(event))).toEqual([
      'indexer.stopping',
      'indexer.stopped',
    ])
    expect(events.at(-1)).toBe('indexer.stopped')
  },
)
