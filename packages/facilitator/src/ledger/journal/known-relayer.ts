/**
 * The chain counts the relayer's transactions, and the journal knows every one of them before it is sent. More on the
 * chain than in the journal: it is an old copy, or somebody else uses the key.
 */
import { type JsonRpc, quantityOf } from '@svc-zerc20/evm'
import type { Address } from '@svc-zerc20/protocol'
import { old } from '../ledger/journal/mark.js'
import type { OpenLedger } from '../ledger/open.js'

/** Throws `SvcError('journal_old')`. A relayer that the journal does not know yet is bound to it as it is now. */
export async function assertRelayerKnown(deps: {
  readonly storage: Pick<OpenLedger, 'knownRelayer' | 'bindRelayer'>
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly relayer: Address
  readonly acceptJournal: boolean
}): Promise<void> {
  const { storage, relayer: address } = deps
  if (!storage.knownRelayer) return
  const method = 'eth_getTransactionCount'
  const [answer] = await deps.rpc.batch([{ method, params: [address, 'latest'] }])
  const nonce = Number(quantityOf(method, answer)) - 1
  const known = storage.knownRelayer()
  const isKnown = known?.address === address
  if (isKnown && nonce <= known.nonce) return
  if (isKnown && !deps.acceptJournal) {
    throw old(
      `the relayer ${address} has sent ${nonce - known.nonce} transactions that the journal does not know: it is an old ` +
        'copy, or somebody else used that key (then start once with --accept-journal)',
    )
  }
  await storage.bindRelayer?.({ address, nonce })
}
