// One of many processes that spend against one total: reserves, notes the signature it would now make, and then spends,
// releases, or leaves the reservation as a crash would. `spender.mjs <state folder> <file of signatures> <cap>`
import { randomBytes, randomInt } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { defaultLimits } from '../dist/limits.js'
import { openState } from '../dist/state/open-state.js'

const [, , folder, signatures, cap] = process.argv
const { totals } = openState({ folder, clock: systemClock, limits: defaultLimits })
const caps = [{ rule: 'total', counts: 'total', max: BigInt(cap), code: 'total_exceeded' }]

for (;;) {
  const nonce = `0x${randomBytes(32).toString('hex')}`
  const amount = `${randomInt(1, 100)}`
  const reserved = await totals.reserve(nonce, reservation(amount), caps)
  if (reserved !== 'reserved') break
  // What comes after this line is what a seller may turn into money.
  const isSigned = randomInt(4) > 0
  if (isSigned) appendFileSync(signatures, `${nonce} ${amount}\n`)
  if (!isSigned) await totals.release(nonce, 'o')
  else if (randomInt(2) === 0) await totals.spend(nonce)
}
process.exit(0)

function reservation(amount) {
  return {
    owner: 'o',
    terms: 't',
    addresses: [],
    pair: 'p',
    host: 'h',
    route: 'r',
    amount,
    hour: 1,
    way: 'permit',
    token: 't',
    payTo: 'p',
    helper: 'h',
    payer: 'p',
    expiresAt: 2_000_000_000,
    deadline: 2_000_000_000,
  }
}
