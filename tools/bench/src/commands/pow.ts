/** `npm run bench:pow`: hashes per second on one core, ours and poseidon-lite's, and the cost of an address. */
import { parseArgs } from 'node:util'
import { createAddressMiner } from '@svc-zerc20/facilitator'
import { burnHash, fieldPrime, findPowNonce, type PowPuzzle } from '@svc-zerc20/zk'
import { poseidon3 } from 'poseidon-lite/poseidon3'
import { median, say } from '../say.js'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    addresses: { type: 'string', default: '8' },
  },
})
const puzzle: PowPuzzle = {
  generation: 2,
  powBits: 32, // no try passes, so that every try is made
  recipientHash: 0x01c0ffeen << 200n,
  baseSecret: fieldPrime / 3n,
}
const burnDomain = 1852994914n
const powBits = 16

type Contestant = { readonly tries: number; readonly run: (startNonce: number, tries: number) => void }

const ours: Contestant = {
  tries: 4000,
  run(startNonce, maxTries) {
    findPowNonce(puzzle, { startNonce, maxTries })
  },
}
const library: Contestant = {
  tries: 200,
  run(startNonce, tries) {
    for (let nonce = startNonce; nonce < startNonce + tries; nonce++) {
      const hash = poseidon3([burnDomain, puzzle.recipientHash, puzzle.baseSecret + BigInt(nonce)])
      if (((hash >> 160n) & 0xffff_ffffn) === 0n) throw new Error('a try passed that should not')
    }
  },
}

/** Hashes per second of processor time, which other processes do not influence. */
function ratePerSecond({ tries, run }: Contestant, startNonce: number): number {
  const before = process.cpuUsage()
  run(startNonce, tries)
  const { user, system } = process.cpuUsage(before)
  return tries / ((user + system) / 1e6)
}

async function compareHashes(rounds: number): Promise<void> {
  const sample = burnHash(2, puzzle.recipientHash, puzzle.baseSecret)
  if (sample !== poseidon3([burnDomain, puzzle.recipientHash, puzzle.baseSecret])) {
    throw new Error('the hashes differ')
  }
  for (const contestant of [ours, library]) {
    // Warm-up: both are optimized in the background during the first runs.
    for (let warmUp = 0; warmUp < 4; warmUp++) {
      contestant.run(0, contestant.tries)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
  const pairs = Array.from({ length: rounds }, (_, round) => ({
    ours: ratePerSecond(ours, round * ours.tries),
    library: ratePerSecond(library, round * library.tries),
  }))
  const our = median(pairs.map((pair) => pair.ours))
  const their = median(pairs.map((pair) => pair.library))
  const ratio = median(pairs.map((pair) => pair.ours / pair.library))
  say(`Poseidon over three numbers, one core, median of ${rounds} rounds in turn:`)
  say(`  ours           ${our.toFixed(0).padStart(7)} hashes/s  ${(1e6 / our).toFixed(1)} µs each`)
  say(`  poseidon-lite  ${their.toFixed(0).padStart(7)} hashes/s  ${(1e6 / their).toFixed(1)} µs each`)
  say(`  ratio          ${ratio.toFixed(1).padStart(7)}×`)
  const perSecond = our / 2 ** powBits
  say(
    `An address of ${powBits} bits takes ${2 ** powBits} tries on average: ${(1 / perSecond).toFixed(2)} s, or ${perSecond.toFixed(2)} addresses a second and core.`,
  )
}

async function mineAddresses(count: number): Promise<void> {
  const miner = createAddressMiner({ threads: 1 })
  try {
    await miner.mine({ ...puzzle, powBits: 8 }) // the thread starts with the first puzzle
    const startedAt = performance.now()
    let tries = 0
    for (let index = 0; index < count; index++) {
      const baseSecret = puzzle.baseSecret + BigInt(index) * 2n ** 64n
      tries += 1 + (await miner.mine({ ...puzzle, powBits, baseSecret }))
    }
    const seconds = (performance.now() - startedAt) / 1000
    say(
      `Mined ${count} of them in one thread: ${seconds.toFixed(1)} s, ${tries} tries, ${(tries / seconds).toFixed(0)} tries/s.`,
    )
  } finally {
    await miner.close()
  }
}

await compareHashes(Number(values.rounds))
await mineAddresses(Number(values.addresses))
