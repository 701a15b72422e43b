/** The participants' side of the payment history: tokens, wallet login, statements, and the routes that use them. */
import { createHmac } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { historyUrlOf } from '../config/settings.js'
import { createTokens } from '../history/identity/tokens.js'
import { createWalletLogin } from '../history/identity/wallet-login.js'
import { createStatements } from '../history/statements/statements.js'
import type { Admission } from '../http/admission.js'
import { historyRoutes } from '../http/history/api.js'
import { historyGuard } from '../http/history/authenticate.js'
import { registerRoutes } from '../http/route.js'
import type { PathGuard } from '../http/server.js'
import { createUsedNonces } from '../store/adapters/logins.js'
import type { Parts } from './parts.js'

export type HistorySide = (admission: Admission) => {
  readonly guard: PathGuard
  register(app: FastifyInstance): void
}

/** Undefined when no history is attached. Throws `SvcError('issuer_unusable')` for an issuer that cannot issue. */
export async function createHistorySide(parts: Parts): Promise<HistorySide | undefined> {
  const { config, clock, random } = parts
  const { history } = parts.storage
  const settings = parts.secrets.history
  if (!settings || !history) return undefined
  const { participants, issuer } = settings
  const { chainId, token, tokenLabel, treasury } = parts.chainSide.deployment
  const url = historyUrlOf(config)
  const tokens = createTokens({ settings, url, clock, random })
  const login = settings.hasWalletLogin
    ? createWalletLogin({
        participants,
        url,
        chainId,
        tokens,
        rpc: parts.chainSide.rpc,
        clock,
        random,
        // A ledger of this daemon alone may lose used nonces in a power failure. Its key ends with the process.
        key: parts.storage.shared
          ? createHmac('sha256', settings.identitySecret.reveal()).update('svc-zerc20/login/v1').digest()
          : random.bytes(32),
        used: createUsedNonces(parts.storage.store),
      })
    : undefined
  const statements =
    issuer &&
    (await createStatements({
      settings: issuer,
      money: { chainId, token },
      clock,
      random,
      log: parts.telemetry.log,
    }))
  return (admission) => {
    const api = {
      chainId,
      token,
      tokenLabel,
      treasury,
      participants,
      tokens,
      login,
      statements,
      admission,
      clock,
      books: history.books,
      disclose: history.disclose,
      exports: { payer: new Set<Readable>(), provider: new Set<Readable>() },
    }
    return { guard: historyGuard(api), register: (app) => registerRoutes(app, historyRoutes, api) }
  }
}
