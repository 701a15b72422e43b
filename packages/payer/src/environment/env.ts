/** The only file of the payer that touches `process.env`. */
import type { Environment } from './read-environment.js'
import { isTakenOut } from './variables.js'

/**
 * The process' environment, with keys and tokens taken out of it: child processes that start later inherit none, and no
 * diagnostic report shows them. The kernel's copy stays: `/proc/PID/environ` shows it to the same user and to root.
 */
export function takeEnvironment(): Environment {
  const taken = { ...process.env }
  for (const name of Object.keys(taken).filter(isTakenOut)) delete process.env[name]
  return taken
}
