/** `svc-pay verify-statement` and `present-statement`, inside this process. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { unixSeconds } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import {
  makePrivateKey,
  parsePrivateKey,
  printStatementFile,
  signManifest,
  signRevocations,
  signStatement,
} from '@svc-zerc20/statement'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runProgram } from './program.js'

const keyNo = (number: number) => parsePrivateKey(makePrivateKey(Buffer.alloc(32, number)))
const [anchor, key] = [keyNo(1), keyNo(2)]
const iss = 'https://pay.example'
const audience = 'https://auditor.example'
const now = unixSeconds(systemClock)
const day = 86_400

const manifest = (seq = 1) =>
  signManifest(anchor, {
    iss,
    seq,
    iat: now - day,
    exp: now + day,
    keys: [{ kid: 'k', jwk: key.publicJwk, nbf: 0 }],
  })
const list = (exp: number, revoked: string[] = []) =>
  signRevocations(key, 'k', { iss, iat: now - 9, exp, revoked })

let folder: string
let random = 0
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-pay-statement-'))
  write('anchor.json', JSON.stringify(anchor.publicJwk))
  write(
    'statement.json',
    printStatementFile({ statement: await statement(), manifest: manifest(), revocations: list(now + day) }),
  )
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const statement = () =>
  signStatement(
    {
      kind: 'finality',
      open: { network: 'eip155:1', token: `0x${'aa'.repeat(20)}` },
      hidden: {
        burnTransaction: `0x${'bb'.repeat(32)}`,
        leafIndex: '5',
        value: '1000',
        finalizedOn: '2026-01-02',
      },
    },
    {
      key,
      kid: 'k',
      issuer: iss,
      audience,
      nonce: 'n-1',
      issuedAt: now - 5,
      expiresAt: now + day,
      jti: 'j-1',
      random: { bytes: (length) => Buffer.alloc(length, `${random++}.`) },
    },
  )

const at = (name: string) => join(folder, name)
const write = (name: string, text: string) => writeFileSync(at(name), text)

async function svcPay(...args: readonly string[]) {
  const [stdout, stderr, stdin] = [new PassThrough(), new PassThrough(), new PassThrough()]
  let code: number | undefined
  const end = (ended: number) => {
    code = ended
  }
  const io = { stdout, stderr, terminal: undefined, isColoured: false }
  const environment = { SVC_STATE_DIR: at('state') }
  await runProgram({ version: '0', environment, io, stdin, end }, args)
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') }
}

const verify = (file: string, ...more: readonly string[]) =>
  svcPay('verify-statement', at(file), '--trust-anchor', at('anchor.json'), ...more)

describe('verify-statement', () => {
  it('says what a valid statement tells, what it does not, and what was not compared, and leaves with 0', async () => {
    const { code, stdout, stderr } = await verify('statement.json')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^valid: the value of one burn was minted to its recipient, who is not named\n/)
    expect(stdout).toContain('  finalizedOn      2026-01-02\n')
    expect(stderr).toMatch(/made for https:\/\/auditor\.example; --audience compares/)
    expect(stderr).toMatch(/--nonce compares/)
    const compared = await verify(
      'statement.json',
      '--audience',
      audience,
      '--nonce',
      'n-1',
      '--require',
      'value,leafIndex',
    )
    expect(compared).toMatchObject({ code: 0, stderr: '' })
  })

  it('has one shape as JSON', async () => {
    const valid = JSON.parse((await verify('statement.json', '--json')).stdout)
    expect(valid).toMatchObject({
      ok: true,
      command: 'verify-statement',
      exitCode: 0,
      result: { isValid: true, kind: 'finality', jti: 'j-1' },
    })
    const refused = JSON.parse((await verify('statement.json', '--audience', 'me', '--json')).stdout)
    expect(refused).toMatchObject({
      ok: false,
      exitCode: 7,
      result: { isValid: false, reason: 'statement_audience' },
    })
  })

  it.each<[string, readonly string[]]>([
    ['statement_audience', ['--audience', 'https://other.example']],
    ['statement_nonce', ['--nonce', 'n-2']],
    ['claim_hidden', ['--require', 'mintTransaction']],
    ['manifest_old', ['--manifest-seq', '2']],
  ])('leaves with 7 and the reason %s', async (reason, options) => {
    const { code, stdout } = await verify('statement.json', ...options)
    expect([code, stdout.split('\n')[0]]).toEqual([7, `not valid: ${reason}`])
  })

  it('takes a bare statement with the papers beside it, and says where to get them', async () => {
    write('bare', `${await statement()}\n`)
    expect(await verify('bare')).toMatchObject({
      code: 7,
      stdout: expect.stringMatching(/manifest_missing[\s\S]*--manifest/),
    })
    write('manifest', manifest())
    expect(await verify('bare', '--manifest', at('manifest'))).toMatchObject({
      code: 7,
      stdout: expect.stringContaining('GET /history/issuer/revocations'),
    })
    const unchecked = await verify('bare', '--manifest', at('manifest'), '--no-revocations')
    expect(unchecked).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('nobody looked whether the statement was revoked'),
    })
    write('list', list(now + day))
    expect(await verify('bare', '--manifest', at('manifest'), '--revocations', at('list'))).toMatchObject({
      code: 0,
    })
    write('list', list(now + day, ['j-1']))
    expect(await verify('bare', '--manifest', at('manifest'), '--revocations', at('list'))).toMatchObject({
      code: 7,
      stdout: expect.stringContaining('statement_revoked'),
    })
  })

  it('asks for a fresh list when the one in the file is stale', async () => {
    write(
      'statement.json',
      printStatementFile({ statement: await statement(), manifest: manifest(), revocations: list(now - 1) }),
    )
    expect(await verify('statement.json')).toMatchObject({
      code: 7,
      stdout: expect.stringMatching(/revocations_stale[\s\S]*--revocations/),
    })
  })

  it('does not fall back to the papers of the file when the ones it was given are none', async () => {
    write('refusal.json', '{"error":"try again","reason":"issuer_unavailable"}')
    for (const [option, reason] of [
      ['--manifest', 'manifest_malformed'],
      ['--revocations', 'revocations_malformed'],
    ] as const) {
      expect(await verify('statement.json', option, at('refusal.json'))).toMatchObject({
        code: 7,
        stdout: expect.stringContaining(reason),
      })
    }
  })

  it('leaves with 7 for a file that is no statement, and with 2 for a mistake of the caller', async () => {
    write('other.json', '{"format":"another"}')
    expect(await verify('other.json')).toMatchObject({
      code: 7,
      stdout: expect.stringContaining('file_malformed'),
    })
    expect(await verify('missing.json')).toMatchObject({ code: 2 })
    expect(await svcPay('verify-statement', at('statement.json'))).toMatchObject({ code: 2 })
    const wrong = await svcPay(
      'verify-statement',
      at('statement.json'),
      '--trust-anchor',
      at('statement.json'),
    )
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('no public Ed25519 key') })
    const help = await svcPay('verify-statement', '--help')
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('7  the statement is not valid') })
  })
})

describe('present-statement', () => {
  it('writes a statement that tells what was chosen and nothing else', async () => {
    const { code } = await svcPay(
      'present-statement',
      at('statement.json'),
      '--disclose',
      'value, finalizedOn',
      '--out',
      at('few.json'),
    )
    expect(code).toBe(0)
    const { result } = JSON.parse((await verify('few.json', '--json')).stdout)
    expect(Object.keys(result.claims)).toEqual(['network', 'token', 'value', 'finalizedOn'])
    expect(result.undisclosed).toEqual(['burnTransaction', 'leafIndex'])
    expect(
      await svcPay('present-statement', at('statement.json'), '--disclose', '', '--out', at('none.json')),
    ).toMatchObject({ stdout: expect.stringContaining('discloses nothing') })
  })

  it('overwrites nothing, writes no limits, and names what it can disclose', async () => {
    const before = readFileSync(at('statement.json'), 'utf8')
    expect(
      await svcPay(
        'present-statement',
        at('statement.json'),
        '--disclose',
        'value',
        '--out',
        at('statement.json'),
      ),
    ).toMatchObject({ code: 2 })
    expect(readFileSync(at('statement.json'), 'utf8')).toBe(before)
    const inState = await svcPay(
      'present-statement',
      at('statement.json'),
      '--disclose',
      'value',
      '--out',
      at('state/totals.json'),
    )
    expect(inState).toMatchObject({ code: 2, stderr: expect.stringContaining('--out') })
    const strange = await svcPay(
      'present-statement',
      at('statement.json'),
      '--disclose',
      'payer',
      '--out',
      at('x.json'),
    )
    expect(strange).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('it can disclose burnTransaction, leafIndex, value, finalizedOn'),
    })
    expect(existsSync(at('x.json'))).toBe(false)
  })
})
