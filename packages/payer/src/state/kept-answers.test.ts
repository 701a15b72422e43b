import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { randomHex } from '../../test/offers.js'
import { defaultLimits } from '../limits.js'
import { createKeptAnswers } from './kept-answers.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-pay-kept-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

it('an answer is on the disk as a whole, and in memory up to what its reader wants', async () => {
  const kept = createKeptAnswers({ folder, clock: systemClock, limits: defaultLimits })
  const nonce = randomHex(32) as ChallengeNonce
  let left = 64
  const body = new ReadableStream<Uint8Array>({
    pull: (to) => (left-- > 0 ? to.enqueue(new Uint8Array(1_000).fill(left)) : to.close()),
  })
  const read = await kept.keep(nonce, new Response(body), 1_500)
  expect(read).toMatchObject({ bytes: 64_000, isKept: true, broken: undefined })
  expect(read.pieces.map(({ byteLength }) => byteLength)).toEqual([1_000, 1_000])
  const { path = '', isComplete } = (await kept.find(nonce)) ?? {}
  const whole = Buffer.concat(Array.from({ length: 64 }, (_, i) => Buffer.alloc(1_000, 63 - i)))
  expect([isComplete, (await readFile(path)).equals(whole)]).toEqual([true, true])
})

it('an answer that the disk does not take comes to its reader all the same, however long it takes', async () => {
  const noFolder = join(folder, 'a-file')
  await writeFile(noFolder, '')
  const kept = createKeptAnswers({ folder: noFolder, clock: systemClock, limits: defaultLimits })
  let left = 3
  const body = new ReadableStream<Uint8Array>({
    async pull(to) {
      await systemClock.sleep(20)
      if (left-- > 0) to.enqueue(new Uint8Array(1))
      else to.close()
    },
  })
  // A failure that nobody heard by then would end the process.
  const read = await kept.keep(randomHex(32) as ChallengeNonce, new Response(body))
  expect(read).toMatchObject({ bytes: 3, isKept: false, broken: undefined })
})
