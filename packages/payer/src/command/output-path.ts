/** Where answers may be written: anywhere but over the limits. What cannot be written is known before it is paid for. */
import { constants, realpathSync } from 'node:fs'
import { access, stat } from 'node:fs/promises'
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

/** Refuses a file that could not be written, before anything is paid for what should go there. */
export async function assertWritable(path: string): Promise<void> {
  const file = await stat(path).catch(() => undefined)
  try {
    if (file?.isDirectory()) throw new Error('it is a folder')
    await access(file ? path : dirname(resolve(path)), constants.W_OK)
    if (!file && !(await stat(dirname(resolve(path)))).isDirectory())
      throw new Error('its parent is not a folder')
  } catch (cause) {
    throw cannotWrite(path, cause)
  }
}

export const cannotWrite = (path: string, cause: unknown) =>
  new SvcError('payer_misconfigured', `--output ${path} cannot be written: ${(cause as Error).message}`, {
    cause,
  })

/** The place behind all links. The last parts of a path need not exist yet. */
function realPlace(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(realPlace(above), basename(path))
  }
}
