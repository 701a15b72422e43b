/** Looks on the chain for counts of our epochs by accounts that are not ours: another facilitator with our journal. */
import { createJsonRpc } from '@svc-zerc20/evm'
import { createBatchCounts } from '../chain/batch-counts.js'
import type { PartialConfig } from '../config/config.js'
import type { Finding } from '../finding.js'
import type { LedgerState } from '../ledger/state/state.js'
import { limits } from '../limits.js'
import { createRecipientHashes } from '../mint/burn-secrets.js'
import { type Epoch, type EpochLeaf, epochKey, epochOf } from '../payment/epochs/epoch.js'
import { findForeignCount } from '../payment/epochs/others.js'
import type { Challenge } from '../payment/records.js'
import type { KeyAddresses } from './fee.js'
import { checkLimits } from './limits.js'

/** An epoch of the ledger with its burns. */
export type EpochBurns = { readonly epoch: Epoch; readonly leaves: readonly EpochLeaf[] }

/** Epochs in which something can still be paid or minted, the latest first. */
export function openEpochsOf(state: LedgerState): readonly EpochBurns[] {
  const open = new Map<string, { readonly epoch: Epoch; readonly leaves: EpochLeaf[] }>()
  const add = ({ challenge }: { readonly challenge: Challenge }) => {
    const epoch = epochOf(challenge)
    if (epoch && !open.has(epochKey(epoch))) open.set(epochKey(epoch), { epoch, leaves: [] })
  }
  for (const payment of state.live()) add(payment)
  for (const payment of state.awaitingMint()) add(payment)
  if (open.size === 0) return []
  for (const challenge of state.challenges()) {
    const epoch = epochOf(challenge)
    const { accepted, late } = state.find(challenge.nonce) ?? {}
    const burns = [accepted?.burn, late].flatMap((burn) => burn ?? [])
    if (epoch) open.get(epochKey(epoch))?.leaves.push(...burns.map((burn) => ({ challenge, burn })))
  }
  return [...open.values()].sort((a, b) => b.epoch.start - a.epoch.start)
}

export async function probeForeignCounts(
  { network, zerc20 }: PartialConfig,
  given: { readonly keys: KeyAddresses | undefined; readonly seed: Uint8Array | undefined },
  epochs: readonly EpochBurns[],
): Promise<Finding[]> {
  const { keys, seed } = given
  const { rpc_url: url, chain_id, verifier, deployed_block: deployedBlock = 0 } = network
  const { generation } = zerc20
  if (epochs.length === 0 || !keys || !seed || url === undefined) return []
  if (chain_id === undefined || verifier === undefined || generation === undefined) return []
  const rpc = createJsonRpc({ url, timeoutMs: limits.rpcTimeoutMs, answerBytesMax: limits.rpcAnswerBytesMax })
  const counts = createBatchCounts({
    rpc,
    verifier,
    submitter: keys.minter ?? keys.relayer,
    recipientHashOf: createRecipientHashes(seed, { network: { chain_id }, zerc20: { generation } }),
    deployedBlock,
    confirmations: 1,
    logSpanBlocksMax: limits.logSpanBlocksMax,
  })
  try {
    const findings: Finding[] = []
    for (const { epoch, leaves } of epochs.slice(0, checkLimits.epochsMax)) {
      const other = await findForeignCount(counts, epoch, () => leaves)
      if (!other) continue
      const message =
        `the account ${other.submitter} counted ${other.counted} base units of the epoch of ` +
        `${new Date(epoch.start * 1000).toISOString()}, and this journal does not explain them: a copy of it runs ` +
        'elsewhere, and the smaller of two sums is lost; stop one of the two, then see foreign_mint in ' +
        'docs/concepts/finalization.md'
      findings.push({ level: 'warn', key: 'settlement.journal', message })
    }
    return findings
  } finally {
    rpc.close()
  }
}
