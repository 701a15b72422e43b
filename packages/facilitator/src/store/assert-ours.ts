/** Whether a ledger is that of this configuration and key: one judge, for a start, which stops, and for a check, which tells. */
import { SvcError } from '@svc-zerc20/protocol'
import { seedFingerprint } from '@svc-zerc20/zk'
import type { Config } from '../config/config.js'
import type { Binding } from './events.js'
import { isOf } from './rows/transaction-rows.js'
import { type Step, sql } from './sql.js'
import { readBinding } from './steps/operator-steps.js'

/** The network and the seed of the daemon. */
export type Ours = Pick<Binding, 'chainId' | 'token' | 'helper'> & { readonly seed: string }

export const oursOf = ({ network, settlement }: Config, seed: Uint8Array): Ours => ({
  chainId: network.chain_id,
  token: network.token,
  ...(settlement.permit_burner !== undefined && { helper: settlement.permit_burner }),
  seed: seedFingerprint(seed),
})

/** The binding is empty before the first start. */
export type Bound = { readonly binding: Partial<Binding>; readonly isBurning: boolean }

export function* readBound(): Step<Bound> {
  const burns = yield sql`SELECT 1 FROM signed WHERE ${isOf('burn')} LIMIT 1`
  return { binding: yield* readBinding(), isBurning: burns.length > 0 }
}

/**
 * Throws for a ledger of another chain, token or treasury key, and for one of another helper while burns through that helper
 * are under way: their outcome would be looked for at the wrong place.
 */
export function assertOurs({ binding, isBurning }: Bound, ours: Ours, setting: string): void {
  const { chainId, token, helper, seed } = binding
  if (chainId === undefined) return
  if (chainId !== ours.chainId || token !== ours.token) {
    throw new SvcError(
      'config_invalid',
      `${setting}: it belongs to token ${token} on chain ${chainId}; give this network one of its own`,
    )
  }
  if (seed !== undefined && seed !== ours.seed) {
    throw new SvcError(
      'seed_mismatch',
      'SVC_TREASURY_PK: is not the key that the addresses of the ledger derive from, so nothing that was paid to them ' +
        'could be minted. Put the old key back; a new key needs a journal of its own (settlement.journal)',
    )
  }
  if (helper !== ours.helper && isBurning) {
    throw new SvcError(
      'config_invalid',
      `settlement.permit_burner: burns through ${helper ?? 'no helper'} are under way; keep it until they ended`,
    )
  }
}
