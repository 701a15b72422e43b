import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unixSeconds } from '@svc-zerc20/protocol'
import { makePrivateKey, parsePrivateKey } from '@svc-zerc20/statement'
import { expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { temporaryFolder } from '../../../test/folder.js'
import { limits } from '../../config/limits.js'
import { openArtifacts } from './artifacts.js'
import { createRevocationList, revoke } from './revocation-list.js'

const key = parsePrivateKey(makePrivateKey(Buffer.alloc(32, 7)))
const issuer = { id: 'https://pay.example', kid: 'first', key, manifest: '', trustAnchor: key.publicJwk }
const partsOf = (list: string) =>
  list
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')))

it('the list of revocations is signed once for all callers of some seconds, and at once by a new key', async () => {
  const [folder, clock, jti] = [temporaryFolder(), stoppedClock(), 'ab'.repeat(16)]
  await openArtifacts(folder)
  const listOf = createRevocationList(folder, clock)
  const list = await listOf(issuer)
  await revoke(folder, jti, unixSeconds(clock) + 1_000)
  expect(await listOf(issuer)).toBe(list)
  expect(partsOf(await listOf({ ...issuer, kid: 'second' }))).toMatchObject([
    { kid: 'second' },
    { revoked: [jti] },
  ])
  clock.advance(limits.revocationsFreshMs)
  expect(partsOf(await listOf(issuer))).toMatchObject([{ kid: 'first' }, { revoked: [jti] }])
})

it('the list of revocations is read again after a failure, without a pause', async () => {
  const folder = temporaryFolder()
  await openArtifacts(folder)
  const listOf = createRevocationList(folder, stoppedClock())
  writeFileSync(join(folder, 'revoked'), 'in the way')
  await expect(listOf(issuer)).rejects.toThrow()
  rmSync(join(folder, 'revoked'))
  expect(partsOf(await listOf(issuer))).toMatchObject([{ kid: 'first' }, { revoked: [] }])
})
