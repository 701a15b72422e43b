/** The signed list of revoked statements. Strangers may ask for it, so it is read and signed now and then only. */

import { type Clock, unixSeconds } from '@svc-zerc20/protocol'
import { signRevocations } from '@svc-zerc20/statement'
import { limits } from '../../config/limits.js'
import { assertOpened, inArtifacts } from './artifacts.js'
import type { Issuer } from './issuer.js'
import { readRevoked } from './revoked.js'

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

  /** The list that this issuer signs, at most `limits.revocationsFreshMs` old. Throws `SvcError('journal_failed')`. */
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
