/** Where answers may be written: anywhere but over the limits. */
import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'

/**
 * Refuses a path in the state folder, and the policy file. A seller chooses what is written, and an agent chooses where:
 * together they could write totals that begin at zero.
 */
export function assertNotLimits(
  path: string,
  limits: readonly (string | undefined)[],
  option = '--output',
): void {
  const place = realPlace(resolve(path))
  for (const limit of limits) {
    if (limit === undefined) continue
    const guarded = realPlace(resolve(limit))
    if (place === guarded || place.startsWith(guarded + sep)) {
      throw new SvcError(
        'payer_misconfigured',
        `${option} ${path}: the limits are kept there; name another place`,
      )
    }
  }
}

/** The place behind all links. The last parts of a path need not exist yet. */
function realPlace(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(realPlace(above), basename(path))
  }
}
