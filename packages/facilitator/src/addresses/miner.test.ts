import { Worker } from 'node:worker_threads'
import { deriveBurn, findPowNonce, type PowPuzzle } from '@svc-zerc20/zk'
import { afterEach, describe, expect, test } from 'vitest'
// The built files, because a worker thread can only load those.
import {
  type AddressMiner,
  type AddressMinerDeps,
  createAddressMiner,
  startMineWorker,
} from '../../dist/addresses/miner.js'

const quick: PowPuzzle = { generation: 2, powBits: 4, recipientHash: 123456789n, baseSecret: 1000n }
/** Nobody solves this within a test. */
const endless: PowPuzzle = { ...quick, powBits: 32 }

const miners: AddressMiner[] = []
afterEach(async () => {
  await Promise.all(miners.splice(0).map((miner) => miner.close()))
})

function createMiner(deps: AddressMinerDeps): AddressMiner {
  const miner = createAddressMiner(deps)
  miners.push(miner)
  return miner
}

/** Real workers whose handles and mail the test can see. */
function watchedWorkers() {
  const workers: Worker[] = []
  const mail: unknown[] = []
  const startWorker = () => {
    const worker = startMineWorker()
    const post = worker.postMessage.bind(worker)
    worker.postMessage = (message: unknown) => {
      mail.push(message)
      post(message)
    }
    workers.push(worker)
    return worker
  }
  return { workers, mail, startWorker }
}

/** The result of a search in this thread. */
const minedHere = (puzzle: PowPuzzle) => findPowNonce(puzzle, { startNonce: 0, maxTries: 10_000 })

const scripted = (script: string) => new Worker(script, { eval: true })

describe('mining', () => {
  test('finds what a search in this thread finds', async () => {
    const miner = createMiner({ threads: 2 })
    const puzzles = Array.from({ length: 12 }, (_, at) => ({ ...quick, baseSecret: BigInt(at) * 1000n }))
    const mined = await Promise.all(puzzles.map((puzzle) => miner.mine(puzzle)))
    expect(mined).toEqual(puzzles.map(minedHere))
  })

  test('gives an idle thread back and starts another for the next puzzle', async () => {
    const { workers, startWorker } = watchedWorkers()
    const miner = createMiner({ threads: 1, startWorker, threadRestMs: 1 })
    const first = await miner.mine(quick)
    await new Promise((resolve) => workers[0]?.once('exit', resolve))
    expect(await miner.mine(quick)).toEqual(first)
    expect(workers).toHaveLength(2)
  })

  test('goes on over several slices until the nonce is found', async () => {
    // Upstream's own vector, entered 1000 nonces late.
    const { mail, startWorker } = watchedWorkers()
    const puzzle: PowPuzzle = { generation: 1, powBits: 12, recipientHash: 123456789n, baseSecret: 2000n }
    expect(await createMiner({ threads: 1, startWorker }).mine(puzzle)).toBe(3346)
    expect(mail).toHaveLength(2)
  })

  test('starts no more threads than allowed, and none before there is work', async () => {
    const { workers, startWorker } = watchedWorkers()
    const miner = createMiner({ threads: 2, startWorker })
    expect(workers).toHaveLength(0)
    await Promise.all(Array.from({ length: 9 }, () => miner.mine(quick)))
    expect(workers).toHaveLength(2)
  })

  test('tells a worker neither the tweak nor anything else it does not need', async () => {
    const { mail, startWorker } = watchedWorkers()
    const derivation = deriveBurn({
      generation: 2,
      powBits: 2,
      chainId: 31337,
      treasury: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      seed: new Uint8Array(32).fill(9),
      challengeNonce: `0x${'5a'.repeat(32)}`,
    })
    expect(await createMiner({ threads: 1, startWorker }).mine(derivation)).toBe(minedHere(derivation))
    const { tweak: _tweak, ...puzzle } = derivation
    expect(mail).toEqual([{ puzzle, range: { startNonce: 0, maxTries: expect.any(Number) } }])
  })
})

describe('crashes', () => {
  test('a worker that dies at its task is replaced and the task still answered', async () => {
    const { workers, startWorker } = watchedWorkers()
    const miner = createMiner({ threads: 1, startWorker })
    const mined = miner.mine(quick)
    await workers[0]?.terminate()
    expect(await mined).toEqual(minedHere(quick))
    expect(workers).toHaveLength(2)
  })

  test('a worker that dies idle is replaced when work comes', async () => {
    const { workers, startWorker } = watchedWorkers()
    const miner = createMiner({ threads: 1, startWorker })
    const before = await miner.mine(quick)
    await workers[0]?.terminate()
    expect(workers).toHaveLength(1)
    expect(await miner.mine(quick)).toEqual(before)
    expect(workers).toHaveLength(2)
  })

  test('a task that outlives too many workers is given up, and the next one gets its chance', async () => {
    let started = 0
    const startWorker = () => {
      started += 1
      return started <= 4 ? scripted('throw new Error("boom")') : startMineWorker()
    }
    const miner = createMiner({ threads: 1, startWorker })
    const [first, second] = [miner.mine(quick), miner.mine(quick)]
    await expect(first).rejects.toMatchObject({ code: 'miner_crashed', cause: { message: 'boom' } })
    expect(await second).toBe(minedHere(quick))
    expect(started).toBe(5)
  })

  test('an exit without an error counts as a crash too', async () => {
    const miner = createMiner({ threads: 1, startWorker: () => scripted('process.exit(3)') })
    await expect(miner.mine(quick)).rejects.toMatchObject({
      code: 'miner_crashed',
      cause: { message: 'worker exited with code 3' },
    })
  })

  test('a thread that the system refuses to start counts as a crash too', async () => {
    let refused = 0
    const startWorker = () => {
      refused += 1
      if (refused <= 2) throw new Error('no more threads')
      return startMineWorker()
    }
    expect(await createMiner({ threads: 1, startWorker }).mine(quick)).toBe(minedHere(quick))
    expect(refused).toBe(3)
  })
})

describe('bounds', () => {
  test('a search without end is given up', async () => {
    const startWorker = () =>
      scripted(`
        const { parentPort } = require('node:worker_threads')
        parentPort.on('message', () => parentPort.postMessage(undefined))`)
    const miner = createMiner({ threads: 1, startWorker })
    await expect(miner.mine({ ...quick, powBits: 8 })).rejects.toMatchObject({
      code: 'miner_exhausted',
      message: 'no valid nonce below 16384',
    })
  })

  test('a full queue refuses at once', async () => {
    const miner = createMiner({ threads: 1, queuedTasksMax: 1 })
    const waiting = [miner.mine(endless), miner.mine(endless)].map((mined) => mined.catch(({ code }) => code))
    await expect(miner.mine(quick)).rejects.toMatchObject({ code: 'miner_queue_full' })
    await miner.close()
    expect(await Promise.all(waiting)).toEqual(['closed', 'closed'])
  })

  test('closing ends every thread, also in the middle of a search, and takes no more work', async () => {
    const { workers, startWorker } = watchedWorkers()
    const miner = createMiner({ threads: 2, startWorker })
    const open = Promise.allSettled([miner.mine(endless), miner.mine(endless)])
    await Promise.all([miner.close(), miner.close()])
    expect((await open).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(workers.map(({ threadId }) => threadId)).toEqual([-1, -1])
    await expect(miner.mine(quick)).rejects.toMatchObject({ code: 'closed' })
    expect(workers).toHaveLength(2)
  })
})
