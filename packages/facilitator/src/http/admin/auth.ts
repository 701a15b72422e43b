/** Guards the administrative surface: its token is required, and without a token nobody gets in. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { callerKey } from '@svc-zerc20/daemon'
import { type Clock, createBoundedMap, reject, type Secret } from '@svc-zerc20/protocol'
import { limits } from '../../config/limits.js'
import { bearerIn } from '../admission.js'
import { hangUpOf } from '../public/caller-connection.js'
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

/** Counts the wrong tokens of each caller. The more there were, the longer the next one waits for its answer. */
export function createWrongTokens({ clock, keysMax }: { clock: Pick<Clock, 'now'>; keysMax: number }) {
  const tries = createBoundedMap<string, { readonly count: number; readonly lastMs: number }>(keysMax)
  return {
    /** Milliseconds that this one has to wait. */
    waitMs(key: string): number {
      const now = clock.now()
      const known = tries.get(key)
      const count = known && now - known.lastMs < limits.wrongTokensForgetMs ? known.count + 1 : 1
      tries.set(key, { count, lastMs: now })
      const beyond = count - limits.wrongTokensFree
      if (beyond <= 0) return 0
      return Math.min(limits.wrongTokenWaitFirstMs * 2 ** (beyond - 1), limits.wrongTokenWaitMaxMs)
    },
  }
}

/** Every request without the token is unauthorized, however many there were: a refusal for another reason would be none. */
export const adminGuard = (auth: AdminAuth, clock: Pick<Clock, 'now' | 'sleep'>): PathGuard => {
  const wrongTokens = createWrongTokens({ clock, keysMax: limits.rateLimitKeysMax })
  return {
    path: '/admin',
    async refusalOf(request) {
      if (auth(request.headers.authorization)) return undefined
      const waitMs = wrongTokens.waitMs(callerKey(request.ip))
      if (waitMs > 0) await clock.sleep(waitMs, await hangUpOf(request))
      return reject('unauthorized')
    },
  }
}
