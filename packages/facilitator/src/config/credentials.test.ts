import { describe, expect, it } from 'vitest'
import { hasCredentials, maskUrl } from './credentials.js'

describe('maskUrl', () => {
  it.each([
    'http://127.0.0.1:8545',
    'https://rpc.example/v1/base',
    'https://rpc.example/?network=base&x=%20',
    'https://RPC.example:443',
  ])('leaves %s alone', (url) => {
    expect(maskUrl(url)).toBe(url)
    expect(hasCredentials(url)).toBe(false)
  })

  it.each([
    ['https://user:hunter2@rpc.example/', 'https://[secret]@rpc.example/'],
    ['https://hunter2@rpc.example/', 'https://[secret]@rpc.example/'],
    ['https://rpc.example/v3/0123456789hunter2abcdef0123', 'https://rpc.example/v3/[secret]'],
    ['https://rpc.example/?apikey=hunter2&x=1', 'https://rpc.example/?apikey=[secret]&x=1'],
    ['https://rpc.example/?auth_token=hunter2', 'https://rpc.example/?auth_token=[secret]'],
    ['not a url //user:hunter2@host', 'not a url //[secret]@host'],
  ])('R-052 masks what is secret in %s', (url, shown) => {
    expect(maskUrl(url)).toBe(shown)
    expect(hasCredentials(url)).toBe(true)
  })
})
