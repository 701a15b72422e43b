import type { UnixSeconds } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { addressOf } from '../../../test/challenges.js'
import { seededRandom } from '../../../test/seeded-random.js'
import { createLoginNonces } from './login-nonces.js'

const [wallet, other] = [addressOf(1), addressOf(2)]
const write = (nonce: string) => `a message with ${nonce}`

function world() {
  const time = { now: 1_000 }
  const nowSeconds = () => time.now as UnixSeconds
  const nonces = createLoginNonces({ random: seededRandom(1), nowSeconds, usedMax: 3 })
  /** Uses a fresh nonce that expires 300 seconds from now. */
  const use = (address = wallet) => nonces.take(nonces.issue(write), (time.now + 300) as UnixSeconds, address)
  return { nonces, time, use }
}

describe('the memory of used nonces', () => {
  it('is bounded: a wallet that fills it with fresh ones gets in later, and keeps no other wallet out', () => {
    const { time, use } = world()
    expect([use(), use(), use(), use()]).toEqual(['taken', 'taken', 'taken', 'full'])
    expect(use(other)).toBe('taken')
    time.now += 299
    expect(use()).toBe('full')
    time.now += 1
    expect([use(), use(), use(), use()]).toEqual(['taken', 'taken', 'taken', 'full'])
  })

  it('forgets the oldest alone, so that no fresh one can be used twice', () => {
    const { nonces, time, use } = world()
    use()
    time.now += 200
    const fresh = nonces.issue(write)
    const end = (time.now + 300) as UnixSeconds
    expect(nonces.take(fresh, end, wallet)).toBe('taken')
    use()
    time.now += 100
    expect(use()).toBe('taken')
    expect(nonces.take(fresh, end, wallet)).toBe('used')
  })

  it('holds nothing that is given back, nor what was only asked for', () => {
    const { nonces, use } = world()
    for (let i = 0; i < 100; i++) {
      const nonce = nonces.issue(write)
      expect(nonces.take(nonce, 2_000 as UnixSeconds, wallet)).toBe('taken')
      nonces.giveBack(nonce)
    }
    expect(use()).toBe('taken')
  })
})

describe('a nonce', () => {
  it('belongs to its message and to its process', () => {
    const { nonces } = world()
    const nonce = nonces.issue(write)
    expect(nonces.isOurs(nonce, write)).toBe(true)
    expect(nonces.isOurs(nonce, (text) => `another message with ${text}`)).toBe(false)
    for (const other of ['', nonce.slice(1), `${nonce}0`, nonce.toUpperCase(), `0${nonce.slice(1)}`]) {
      if (other !== nonce) expect(nonces.isOurs(other, write)).toBe(false)
    }
    const later = createLoginNonces({
      random: seededRandom(2),
      nowSeconds: () => 1_000 as UnixSeconds,
      usedMax: 3,
    })
    expect(later.isOurs(nonce, write)).toBe(false)
  })
})
