/**
 * The journal knows every transaction of the relayer before it is sent, and the chain counts them. A chain that counts
 * more than the journal knows means that the journal is an old copy, or that somebody else uses the key.
 */
import type { Address } from '@svc-zerc20/protocol'
import type { OpenLedger } from '../open.js'
import { old } from './mark.js'

/** Throws `SvcError('journal_old')`. A relayer that the journal does not know yet is bound to it as it is now. */
export async function assertRelayerKnown(deps: {
  readonly storage: Pick<OpenLedger, 'knownRelayer' | 'bindRelayer'>
  readonly relayer: {
    readonly address: Address
    /** Transactions of the key that the chain holds. */
    minedCount(): Promise<number>
  }
  readonly acceptJournal: boolean
}): Promise<void> {
  const { storage, relayer } = deps
  if (!storage.knownRelayer) return
  const { address } = relayer
  const lastTxNonce = (await relayer.minedCount()) - 1
  const known = storage.knownRelayer()
  const isKnown = known?.address === address
  if (isKnown && lastTxNonce <= known.nonce) return
  if (isKnown && !deps.acceptJournal) {
    throw old(
      `the relayer ${address} has sent ${lastTxNonce - known.nonce} transactions that the journal does not know: it is an old ` +
        'copy, or somebody else used that key (then start once with --accept-journal)',
    )
  }
  await storage.bindRelayer?.({ address, nonce: lastTxNonce })
}
