/** Hands mints that an earlier run signed back to the minter, before the relayer assigns new txNonces. */
import type { Ledger } from '../ledger-port.js'
import type { Minter } from '../ports.js'
import type { FinalizeEvent } from './ports.js'

export async function resumeMints(deps: {
  readonly ledger: Pick<Ledger, 'interrupted'>
  readonly minter: Pick<Minter, 'resume'>
  readonly report: (event: FinalizeEvent) => void
}): Promise<void> {
  const { minter, report } = deps
  for (const interrupted of (await deps.ledger.interrupted()).mints) {
    // However the mint ends, the next round sees on the chain how far it got.
    minter.resume(interrupted).catch((err) => report({ event: 'finalize.failed', err }))
    for (const nonce of interrupted.nonces) report({ event: 'mint.resumed', challengeNonce: nonce })
  }
}
