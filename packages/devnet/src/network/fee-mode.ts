/** The fee of a local network, in each of its modes. */
import type { Address } from 'viem'
import { ensureSplitter } from '../deploy/ensure-splitter.js'
import { developmentRoles } from '../node/accounts.js'
import type { ConfigTables } from './facilitator-config.js'

export type FeeMode = {
  /** Who bears the fee: the payer on top of the price, or the provider out of it. */
  readonly chargeTo: 'payer' | 'provider'
  /** A contract divides what is minted. Otherwise the treasury's key sends the fee on. */
  readonly isSplit: boolean
}

/** 2.5 %. */
const feeBps = 250

/** The facilitator's tables for a fee. In split mode the splitter is deployed first, and is the treasury. */
export async function openFee(
  { chargeTo, isSplit }: FeeMode,
  { rpcUrl, token, say }: { rpcUrl: string; token: Address; say: (line: string) => void },
): Promise<{ readonly tables: ConfigTables; readonly splitter?: Address }> {
  const { provider, feeRecipient } = developmentRoles
  const fee = { bps: feeBps, min_per_payment: '0', charge_to: chargeTo, recipient: feeRecipient.address }
  if (!isSplit) return { tables: { fee } }
  const splitter = await ensureSplitter({
    rpcUrl,
    deployer: feeRecipient,
    terms: {
      token,
      provider: provider.address,
      feeRecipient: feeRecipient.address,
      bps: feeBps,
      payerPays: chargeTo === 'payer',
    },
    log: say,
  })
  return { tables: { settlement: { treasury: splitter }, fee: { ...fee, splitter } }, splitter }
}
