/** The only file of the payer that touches `process.env`. */

import { isAbsolute, join } from 'node:path'
import { SvcError } from '@svc-zerc20/protocol'
import { type Environment, isTakenOut } from './variables.js'

/**
 * The process' environment, with keys and tokens taken out of it: child processes that start later inherit none, and no
 * diagnostic report shows them. The kernel's copy stays: `/proc/PID/environ` shows it to the same user and to root.
 */
export function takeEnvironment(): Environment {
  const taken = { ...process.env }
  for (const name of Object.keys(taken).filter(isTakenOut)) delete process.env[name]
  return taken
}

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
    'SVC_STATE_DIR: there is no home folder; name a folder for the state',
  )
}
