/** The built command as its own process. */
import { fileURLToPath } from 'node:url'
import { startNode } from '../../../test/support/node-process.js'

export type { Ended } from '../../../test/support/node-process.js'

const main = fileURLToPath(new URL('../bin/svc-facilitator.mjs', import.meta.url))

export const startCommand = (args: readonly string[], env: Record<string, string | undefined> = {}) =>
  startNode([main, ...args], env)

/** Runs it to its end. */
export const runCommand = (args: readonly string[], env: Record<string, string | undefined> = {}) =>
  startCommand(args, env).ended
