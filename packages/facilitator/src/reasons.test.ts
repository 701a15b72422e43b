import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type ReasonCode, reasons } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'

const filesIn = (folder: string) => {
  const path = fileURLToPath(new URL(folder, import.meta.url))
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith('.ts')).map((name) => `${path}/${name}`)
}
const files = filesIn('.')
/** Tests share tables of hostile requests. */
const tables = filesIn('../test')
const textOf = (matches: (file: string) => boolean) =>
  [...files, ...tables]
    .filter(matches)
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')

const isTest = (file: string) => file.endsWith('.test.ts') || tables.includes(file)
const tests = textOf((file) => isTest(file) && !file.endsWith('/reasons.test.ts'))
const codes = Object.keys(reasons) as ReasonCode[]

/** A code written as a string; comments and type names do not count. */
const mentions = (text: string, code: string) => text.includes(`'${code}'`)

/** Given by the parsers of the wire, which the daemon calls. */
const givenByProtocol: ReasonCode[] = [
  'malformed_request',
  'malformed_payload',
  'invalid_x402_version',
  'unsupported_scheme',
]

describe('the table of reasons', () => {
  it.each(codes)('%s is given somewhere, and some test provokes it', (code) => {
    const given = mentions(
      textOf((file) => !isTest(file)),
      code,
    )
    expect(given || givenByProtocol.includes(code)).toBe(true)
    expect(mentions(tests, code)).toBe(true)
  })
})
