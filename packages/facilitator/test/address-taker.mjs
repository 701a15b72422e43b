/** Takes addresses from a pool with a file, and prints each challenge nonce before it takes the next. */
import { writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { createAddressStore } from '../dist/addresses/mined-file.js'
import { createAddressMiner } from '../dist/addresses/mining/miner.js'
import { createAddressPool } from '../dist/addresses/pool.js'
import { systemRandom } from '../dist/system.js'

const targetSize = 16
const pool = createAddressPool({
  generation: 2,
  powBits: 1,
  chainId: 31337,
  treasury: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  seed: new Uint8Array(32).fill(7),
  targetSize,
  miner: createAddressMiner({ threads: 1 }),
  random: systemRandom,
  clock: systemClock,
  store: createAddressStore(process.argv[2]),
})
process.on('message', () => undefined) // ends with its parent
for (let taken = 0; ; taken++) {
  // Lets the pool fill up now and then, so that the file is not empty.
  while (taken % 4 === 0 && pool.size() < targetSize) await setTimeout(1)
  const ready = await pool.take(60_000)
  if (ready) writeSync(1, `${ready.challengeNonce} ${pool.figures().restored}\n`)
}
