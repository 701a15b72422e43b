/**
 * The ledger knows every transaction of our accounts before it is sent, and the chain counts them. A chain that counts
 * more than the ledger knows means that the ledger is an old copy, or that somebody else uses the key.
 */
import type { Address } from '@svc-zerc20/protocol'
import type { AccountName } from './events.js'
import { ledgerOld } from './ledger-old.js'
import type { OpenLedger } from './open.js'
import type { RememberedAccount } from './steps/operator-steps.js'

export type CountedAccount = {
  readonly address: Address
  /** Transactions of the key that the chain holds. */
  minedCount(): Promise<number>
}

/** Throws `SvcError('ledger_old')`. Returns the last txNonce on the chain. */
export async function assertKnown(
  name: AccountName,
  { address, minedCount }: CountedAccount,
  known: RememberedAccount | undefined,
): Promise<number> {
  const lastTxNonce = (await minedCount()) - 1
  if (known?.address !== address || known.isDoubted || lastTxNonce <= known.txNonce) return lastTxNonce
  throw ledgerOld(
    `the ${name} ${address} has sent ${lastTxNonce - known.txNonce} transactions that the ledger does not know: it is an old ` +
      'copy, or somebody else used that key (then start once with --accept-copy)',
  )
}

/** Throws `SvcError('ledger_old')`. An account that the ledger does not know yet, or doubts, is bound to it as it is now. */
export async function assertAccountsKnown(deps: {
  readonly storage: Pick<OpenLedger, 'knownAccount' | 'bindAccount'>
  readonly relayer: CountedAccount
  /** Absent when the relayer sends mints. */
  readonly minter: CountedAccount | undefined
}): Promise<void> {
  const { knownAccount, bindAccount } = deps.storage
  const { relayer, minter } = deps
  for (const [name, account] of [
    ['relayer', relayer],
    ['minter', minter],
  ] as const) {
    if (!account) continue
    const known = await knownAccount(name)
    const { address } = account
    const mined = await assertKnown(name, account, known)
    const isSame = known?.address === address
    if (isSame && !known.isDoubted) continue
    // Signed transactions may be mined later.
    await bindAccount(name, { address, txNonce: isSame ? Math.max(mined, known.txNonce) : mined })
  }
}
