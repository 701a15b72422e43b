/** The folder for state that must outlive the process. */
import { isAbsolute, join } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'
import type { Environment } from './read-environment.js'

/**
 * `SVC_STATE_DIR`, else the folder that the XDG base directories name. By the XDG rules a relative path
 * counts as unset.
 */
export function stateFolder(given: string | undefined, environment: Environment): string {
  if (given !== undefined) return given
  const { XDG_STATE_HOME: xdg, HOME: home } = environment
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'svc-pay')
  if (home !== undefined && isAbsolute(home)) return join(home, '.local', 'state', 'svc-pay')
  throw new SvcError(
    'payer_misconfigured',
    'SVC_STATE_DIR: there is no home folder; wanted is a folder for the state',
  )
}
