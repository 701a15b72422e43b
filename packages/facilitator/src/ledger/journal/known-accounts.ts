/**
 * The journal knows every transaction of our accounts before it is sent, and the chain counts them. A chain that counts
 * more than the journal knows means that the journal is an old copy, or that somebody else uses the key.
 */
import type { Address } from '@svc-zerc20/protocol'
import type { OpenLedger } from '../open.js'
import { old } from './mark.js'

type Account = {
  readonly address: Address
  /** Transactions of the key that the chain holds. */
  minedCount(): Promise<number>
}

/** Throws `SvcError('journal_old')`. An account that the journal does not know yet is bound to it as it is now. */
export async function assertAccountsKnown(deps: {
  readonly storage: Pick<OpenLedger, 'knownAccount' | 'bindAccount'>
  readonly relayer: Account
  /** Absent when the relayer sends mints. */
  readonly minter: Account | undefined
  readonly acceptJournal: boolean
}): Promise<void> {
  await assertKnown('relayer', deps.relayer)
  if (deps.minter) await assertKnown('minter', deps.minter)

  async function assertKnown(name: 'relayer' | 'minter', account: Account): Promise<void> {
    const { storage } = deps
    if (!storage.knownAccount) return
    const { address } = account
    const lastTxNonce = (await account.minedCount()) - 1
    const known = storage.knownAccount(name)
    const isKnown = known?.address === address
    if (isKnown && lastTxNonce <= known.nonce) return
    if (isKnown && !deps.acceptJournal) {
      throw old(
        `the ${name} ${address} has sent ${lastTxNonce - known.nonce} transactions that the journal does not know: it is an old ` +
          'copy, or somebody else used that key (then start once with --accept-journal)',
      )
    }
    await storage.bindAccount?.(name, { address, nonce: lastTxNonce })
  }
}
