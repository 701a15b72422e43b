import { expect, it } from 'vitest'
import { parseUrl } from './parse-url.js'

it('reads a URL with letters beyond ASCII, however often it is asked', () => {
  for (let times = 0; times < 20_000; times++) {
    if (parseUrl('https://MÜNCHEN.example/')?.hostname !== 'xn--mnchen-3ya.example')
      expect(times).toBe('never')
  }
})

it('reads a relative URL from its base, and no other text', () => {
  expect(parseUrl('/b', 'http://shop.example/a')?.href).toBe('http://shop.example/b')
  expect([parseUrl('/b'), parseUrl('http://'), parseUrl('')]).toEqual([undefined, undefined, undefined])
})
