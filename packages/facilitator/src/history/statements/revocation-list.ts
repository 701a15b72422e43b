/**
 * The statements that the operator revoked: one empty file each, beside the artifacts. The command writes them while the
 * daemon runs, and no lock is needed. The name says until when the revocation matters.
 */
import { mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, unixSeconds } from '@svc-zerc20/protocol'
import { signRevocations } from '@svc-zerc20/statement'
import { limits } from '../../config/limits.js'
import { syncFolder } from '../../store/journal/disk.js'
import { assertOpened, inArtifacts } from './artifacts.js'
import type { Issuer } from './issuer.js'

const folderOf = (root: string) => join(root, 'revoked')
const namePattern = /^([0-9a-f]{32})\.(\d{1,12})$/

/** Survives a power failure when it resolves. Revoking twice is as good as once. */
export async function revoke(root: string, jti: string, expiresAt: number): Promise<void> {
  const folder = folderOf(root)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = await open(join(folder, `${jti}.${expiresAt}`), 'a', 0o600)
  await file.sync().finally(() => file.close())
  await syncFolder(folder)
  await syncFolder(root)
}

/** The revoked statements that have not expired. A statement that has expired is refused anyway. */
async function readRevoked(root: string, now: number): Promise<string[]> {
  const names = await readdir(folderOf(root)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names.flatMap((name) => {
    const [, jti, expiresAt] = namePattern.exec(name) ?? []
    return jti !== undefined && Number(expiresAt) > now ? [jti] : []
  })
}

/** The signed list of them. Strangers may ask for it, so it is read and signed now and then only. */
export function createRevocationList(artifactPath: string, clock: Pick<Clock, 'now'>) {
  let newest: { readonly at: number; readonly kid: string; readonly list: Promise<string> } | undefined

  const isFresh = (at: number): boolean => at <= clock.now() && clock.now() - at < limits.revocationsFreshMs

  async function sign({ id, kid, key }: Issuer): Promise<string> {
    const iat = unixSeconds(clock)
    const revoked = await inArtifacts(artifactPath, async () => {
      await assertOpened(artifactPath)
      return readRevoked(artifactPath, iat)
    })
    return signRevocations(key, kid, { iss: id, iat, exp: iat + limits.revocationsLifetimeSeconds, revoked })
  }

  /** The list that this issuer signs, at most `limits.revocationsFreshMs` old. Throws `SvcError('ledger_failed')`. */
  return (issuer: Issuer): Promise<string> => {
    if (newest?.kid === issuer.kid && isFresh(newest.at)) return newest.list
    const list = sign(issuer)
    newest = { at: clock.now(), kid: issuer.kid, list }
    // A failed reading is tried again by the next caller.
    list.catch(() => {
      newest = undefined
    })
    return list
  }
}
