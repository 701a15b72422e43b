/** Guards the administrative surface: its token is required, and without a token nobody gets in. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { reject, type Secret } from '@svc-zerc20/protocol'
import { type Admission, bearerIn } from '../admission.js'
import type { PathGuard } from '../server.js'

/** Judges the value of an `Authorization` header. */
export type AdminAuth = (authorization: string | undefined) => boolean

/**
 * Both sides are hashed first, so that the time taken shows neither the length nor the place of the first
 * difference.
 */
export function createAdminAuth(token: Secret<string> | undefined): AdminAuth {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const expected = token && digest(token.reveal())
  return (authorization) => {
    const given = bearerIn(authorization)
    const same = timingSafeEqual(digest(given ?? ''), expected ?? digest(''))
    return expected !== undefined && given !== undefined && same
  }
}

/** A caller that tries tokens has the rate of a stranger for it. */
export const adminGuard = (auth: AdminAuth, admission: Pick<Admission, 'wrongToken'>): PathGuard => ({
  path: '/admin',
  refusalOf: async (request) =>
    auth(request.headers.authorization)
      ? undefined
      : ((await admission.wrongToken(request)) ?? reject('unauthorized')),
})
