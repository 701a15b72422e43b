/** Looks on the chain for counts of our epochs by accounts that are not ours: another facilitator with our ledger. */
import type { JsonRpc } from '@svc-zerc20/evm'
import { createBatchCounts } from '../../chain/batch-counts.js'
import type { PartialConfig } from '../../config/config.js'
import { type Finding, warn } from '../../config/finding.js'
import { limits } from '../../config/limits.js'
import type { Epoch, EpochLeaf } from '../../payment/epochs/epoch.js'
import { findForeignCount } from '../../payment/epochs/others.js'
import { createRecipientHashes } from '../../proving/burn-secrets.js'
import { epochsUnderWay, paymentsOfEpoch } from '../../store/adapters/operator-questions.js'
import type { Step } from '../../store/sql.js'
import type { KeyAddresses } from './fee.js'

/** An epoch of the ledger with its burns. */
export type EpochBurns = { readonly epoch: Epoch; readonly leaves: readonly EpochLeaf[] }

/** Epochs in which something can still be paid or minted, the latest first. */
export function* openEpochs(now: number): Step<readonly EpochBurns[]> {
  const open: EpochBurns[] = []
  for (const epoch of yield* epochsUnderWay(now)) {
    const leaves = (yield* paymentsOfEpoch(epoch)).flatMap(({ challenge, accepted, late }) =>
      [accepted?.burn, late?.burn].flatMap((burn) => (burn ? [{ challenge, burn }] : [])),
    )
    open.push({ epoch, leaves })
  }
  return open
}

export async function probeForeignCounts(
  rpc: JsonRpc | undefined,
  { network, zerc20 }: PartialConfig,
  given: { readonly keys: KeyAddresses | undefined; readonly seed: Uint8Array | undefined },
  epochs: readonly EpochBurns[],
): Promise<Finding[]> {
  const { keys, seed } = given
  const { chain_id, verifier, deployed_block: deployedBlock = 0 } = network
  const { generation } = zerc20
  if (epochs.length === 0 || !keys || !seed || !rpc) return []
  if (chain_id === undefined || verifier === undefined || generation === undefined) return []
  const counts = createBatchCounts({
    rpc,
    verifier,
    submitter: keys.minter ?? keys.relayer,
    recipientHashOf: createRecipientHashes(seed, { network: { chain_id }, zerc20: { generation } }),
    deployedBlock,
    confirmations: 1,
    logSpanBlocksMax: limits.logSpanBlocksMax,
  })
  const findings: Finding[] = []
  for (const { epoch, leaves } of epochs.slice(0, limits.checkedEpochsMax)) {
    const other = await findForeignCount(counts, epoch, () => leaves)
    if (!other) continue
    const message =
      `the account ${other.submitter} counted ${other.counted} base units of the epoch of ` +
      `${new Date(epoch.start * 1000).toISOString()}, and this ledger does not explain them: a copy of it runs ` +
      'elsewhere, and the smaller of two sums is lost; stop one of the two, then see foreign_mint in ' +
      'docs/concepts/finalization.md'
    findings.push(warn('settlement.journal', message))
  }
  return findings
}
