import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../test/seeded-random.js'
import { createLoginNonces } from './login-nonces.js'

const write = (nonce: string) => `a message with ${nonce}`

describe('a nonce', () => {
  it('belongs to its message and to its key', () => {
    const nonces = createLoginNonces({ key: new Uint8Array(32).fill(1), random: seededRandom(1) })
    const nonce = nonces.issue(write)
    expect(nonces.isOurs(nonce, write)).toBe(true)
    expect(nonces.isOurs(nonce, (text) => `another message with ${text}`)).toBe(false)
    for (const other of ['', nonce.slice(1), `${nonce}0`, nonce.toUpperCase(), `0${nonce.slice(1)}`]) {
      if (other !== nonce) expect(nonces.isOurs(other, write)).toBe(false)
    }
    const same = createLoginNonces({ key: new Uint8Array(32).fill(1), random: seededRandom(3) })
    expect(same.isOurs(nonce, write)).toBe(true)
    const later = createLoginNonces({ key: new Uint8Array(32).fill(2), random: seededRandom(2) })
    expect(later.isOurs(nonce, write)).toBe(false)
  })
})
