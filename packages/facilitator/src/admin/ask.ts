/** Asks a running daemon and prints its answer: results to standard output, failures to standard error. */

import { exitCodes } from '@svc-zerc20/daemon'
import { SvcError } from '@svc-zerc20/protocol'
import type { z } from 'zod'
import type { Environment } from '../config/environment.js'
import { type AdminClient, createAdminClient } from './client.js'

/** Options that every verb has. */
export type Common = { readonly url: string; readonly json: boolean }

export type Ask = {
  /**
   * Prints an answer of this form, in words or as JSON. An answer of any other form does not come from this
   * daemon.
   */
  show<T>(
    options: Common,
    schema: z.ZodType<T>,
    ask: (client: AdminClient) => Promise<unknown>,
    print: (answer: T) => string,
  ): Promise<void>
  /** Prints an answer as it came. */
  tell(url: string, ask: (client: AdminClient) => Promise<string>): Promise<void>
}

export function createAsk(env: Environment): Ask {
  async function tell(url: string, ask: (client: AdminClient) => Promise<string>): Promise<void> {
    try {
      process.stdout.write(await ask(createAdminClient({ url, token: env.SVC_ADMIN_TOKEN })))
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      process.stderr.write(`fail ${message}\n`)
      const isAway = error instanceof SvcError && error.code === 'admin_unreachable'
      process.exitCode = isAway ? exitCodes.tryAgain : exitCodes.mistake
    }
  }

  return {
    show: ({ url, json }, schema, ask, print) =>
      tell(url, async (client) => {
        const answer = await ask(client)
        const read = schema.safeParse(answer)
        if (!read.success) throw new SvcError('admin_refused', `${url} answered with something else`)
        return json ? `${JSON.stringify(answer, undefined, 2)}\n` : print(read.data)
      }),
    tell,
  }
}
