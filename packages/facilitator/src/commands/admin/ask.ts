/** Asks a running daemon and prints its answer: results to standard output, failures to standard error. */

import { exitCodes } from '@svc-zerc20/daemon'
import { SvcError } from '@svc-zerc20/protocol'
import type { z } from 'zod'
import { readConfigFile } from '../../config/config.js'
import type { Environment } from '../../config/secrets/environment.js'
import * as Listen from '../../config/settings.js'
import { type AdminClient, createAdminClient } from './client.js'
import { printAnswer } from './print.js'

/** Options that every verb has. */
export type Common = Place & { readonly json: boolean }

/** Where the daemon is: its address, or the configuration that names it. */
export type Place = { readonly url?: string | undefined; readonly config?: string | undefined }

export type Ask = {
  /** Prints an answer of this form, as tables or as JSON. An answer of any other form does not come from this daemon. */
  show(options: Common, schema: z.ZodType, ask: (client: AdminClient) => Promise<unknown>): Promise<void>
  /** Prints an answer as it came. */
  tell(place: Place, ask: (client: AdminClient) => Promise<string>): Promise<void>
}

function urlOf({ url, config: file }: Place): string {
  if (url !== undefined || file === undefined) return url ?? 'http://127.0.0.1:4032'
  const { host, port } = readConfigFile(file).values.listen
  if (host === undefined || !port)
    throw new SvcError('config_invalid', `${file} does not say where the daemon listens`)
  return Listen.urlOf({ host, port })
}

export function createAsk(env: Environment): Ask {
  async function tell(place: Place, ask: (client: AdminClient) => Promise<string>): Promise<void> {
    try {
      process.stdout.write(await ask(createAdminClient({ url: urlOf(place), token: env.SVC_ADMIN_TOKEN })))
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      process.stderr.write(`fail ${message}\n`)
      const isAway = error instanceof SvcError && error.code === 'admin_unreachable'
      process.exitCode = isAway ? exitCodes.tryAgain : exitCodes.mistake
    }
  }

  return {
    show: ({ json, ...place }, schema, ask) =>
      tell(place, async (client) => {
        const answer = await ask(client)
        if (!schema.safeParse(answer).success)
          throw new SvcError('admin_refused', `${urlOf(place)} answered with something else`)
        return json ? `${JSON.stringify(answer, undefined, 2)}\n` : printAnswer(Object(answer))
      }),
    tell,
  }
}
