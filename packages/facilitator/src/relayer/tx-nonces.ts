/** Which transaction nonce of the key is free next: counted by the node once, then by us. */
import { type JsonRpc, quantityOf } from '@svc-zerc20/evm'
import type { Address } from '@svc-zerc20/protocol'

export type TxNonces = {
  /** The next free nonce; the node is asked only when our own count is unknown. */
  next(): Promise<number>
  used(txNonce: number): void
  count(): Promise<void>
  /** Someone else counts with this key: our own count is worth nothing any more. */
  forget(): void
}

export function createTxNonces(deps: {
  rpc: Pick<JsonRpc, 'batch'>
  address: Address
  /** Nonces that transactions of ours have already. */
  ours: () => readonly number[]
}): TxNonces {
  let free: number | undefined

  /** The node's count of what is mined and waits; never a nonce that one of ours already has. */
  async function ask(): Promise<number> {
    const method = 'eth_getTransactionCount'
    const [answer] = await deps.rpc.batch([{ method, params: [deps.address, 'pending'] }])
    const counted = Number(quantityOf(method, answer))
    return deps.ours().reduce((least, txNonce) => Math.max(least, txNonce + 1), counted)
  }

  return {
    next: async () => free ?? (await ask()),
    used(txNonce) {
      free = txNonce + 1
    },
    async count() {
      free = await ask()
    },
    forget() {
      free = undefined
    },
  }
}
