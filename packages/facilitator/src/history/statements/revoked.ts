/**
 * The statements that the operator revoked: one empty file each, beside the artifacts. The command writes them while the
 * daemon runs, and no lock is needed. The name says until when the revocation matters.
 */
import { mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../../store/journal/replace-file.js'

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
export async function readRevoked(root: string, now: number): Promise<string[]> {
  const names = await readdir(folderOf(root)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names.flatMap((name) => {
    const [, jti, expiresAt] = namePattern.exec(name) ?? []
    return jti !== undefined && Number(expiresAt) > now ? [jti] : []
  })
}
