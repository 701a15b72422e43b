/** Where answers may be written: anywhere but over the limits. What cannot be written is known before it is paid for. */
import { constants, realpathSync } from 'node:fs'
import { access, lstat, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'
import { putFile } from '../state/files.js'

/**
 * Refuses a path in the state folder. A seller chooses what is written, and an agent chooses where:
 * together they could write totals that begin at zero.
 */
export function assertNotLimits(path: string, stateFolder: string | undefined, option = '--output'): void {
  if (stateFolder === undefined) return
  const place = realPlace(resolve(path))
  const guarded = realPlace(resolve(stateFolder))
  if (place === guarded || place.startsWith(guarded + sep)) {
    throw new SvcError(
      'payer_misconfigured',
      `${option} ${path}: the limits are kept there; name another place`,
    )
  }
}

/**
 * Refuses a file that could not be written, before anything is paid for what should go there. The answer will take the
 * place of what is there, so that only a file may be there: a link could lead to the limits, and root can replace a device.
 */
export async function assertWritable(path: string): Promise<void> {
  const folder = dirname(resolve(path))
  const there = await lstat(path).catch(() => undefined)
  try {
    if (there?.isDirectory()) throw new Error('it is a folder')
    if (there?.isSymbolicLink()) throw new Error('it is a link; name the file itself')
    if (there && !there.isFile())
      throw new Error('it is no file; without --output, the answer goes to standard output')
    if (there) await access(path, constants.W_OK)
    await access(folder, constants.W_OK)
    if (!(await stat(folder)).isDirectory()) throw new Error('its parent is not a folder')
  } catch (cause) {
    throw cannotWrite(path, cause)
  }
}

/** Puts a file at a name in a folder. */
export type PutAnswer = (name: string, write: (aside: string) => Promise<void>) => Promise<void>

/**
 * Puts answers into a folder, which is looked up once. Whoever can write the folders above can still exchange them for links
 * while a payment runs, so each file is judged again right before it takes its place.
 */
export async function putAnswersIn(folder: string, stateFolder: string | undefined): Promise<PutAnswer> {
  const place = await realpath(folder)
  return (name, write) =>
    putFile(join(place, name), async (aside) => {
      await write(aside)
      assertNotLimits(join(place, name), stateFolder)
    })
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
