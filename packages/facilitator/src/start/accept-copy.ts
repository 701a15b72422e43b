/** Goes on with a restored backup, or with files that the operator accepts although they may be older than what happened. */
import { type JsonRpc, readHead } from '@svc-zerc20/evm'
import type { OpenLedger } from '../store/open.js'
import type { Log } from '../telemetry/events.js'

/** Asks the chain how far the doubt reaches: a burn up to its newest block may have been granted behind the copy. */
export async function acceptCopy(
  storage: Pick<OpenLedger, 'isCopy' | 'acceptCopy'>,
  rpc: JsonRpc,
  log: Log,
): Promise<void> {
  if (!storage.isCopy) return
  const head = await readHead(rpc)
  await storage.acceptCopy(head)
  log({ event: 'journal.copy_accepted', block: `${head}` })
}
