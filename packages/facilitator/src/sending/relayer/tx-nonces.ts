/** Which txNonce of the key is free next: counted by the node once, then by us. */
import { type JsonRpc, quantityOf } from '@svc-zerc20/evm'
import { type Address, createSerial } from '@svc-zerc20/protocol'

/**
 * Hands out the txNonces of one key. Every process that signs with the key has to share one of these: a store keeps the
 * count and a lock, and this daemon, which is alone with its key, keeps both in memory.
 */
export type TxNonces = {
  /**
   * Runs `sign` with the next free txNonce, while nobody else is given one. The txNonce counts as used when `sign`
   * resolves; it is free again when `sign` throws.
   */
  take<T>(sign: (txNonce: number) => Promise<T>): Promise<T>
  /** Counts again, also what others sent with this key. */
  count(): Promise<void>
  /** Someone else signed with this key: the next `take` counts again. */
  forget(): Promise<void>
}

export function createTxNonces(deps: {
  rpc: Pick<JsonRpc, 'batch'>
  address: Address
  /** The txNonces that transactions of ours have already. */
  ours: () => readonly number[]
}): TxNonces {
  const { rpc, address } = deps
  let free: number | undefined
  const oneByOne = createSerial()

  /** The node's count of mined and waiting ones; never a txNonce that one of ours already has. */
  async function ask(): Promise<number> {
    const counted = await countTransactions(rpc, address, 'pending')
    return deps.ours().reduce((least, txNonce) => Math.max(least, txNonce + 1), counted)
  }

  async function takeNow<T>(sign: (txNonce: number) => Promise<T>): Promise<T> {
    free ??= await ask()
    const txNonce = free
    const signed = await sign(txNonce)
    // If the count was forgotten meanwhile, it stays unknown.
    if (free === txNonce) free = txNonce + 1
    return signed
  }

  return {
    take: (sign) => oneByOne(() => takeNow(sign)),
    async count() {
      free = await ask()
    },
    async forget() {
      free = undefined
    },
  }
}

/** Transactions of an account that are mined (`latest`), or that are mined or wait to be (`pending`). */
export async function countTransactions(
  rpc: Pick<JsonRpc, 'batch'>,
  address: Address,
  block: 'latest' | 'pending',
): Promise<number> {
  const method = 'eth_getTransactionCount'
  const [answer] = await rpc.batch([{ method, params: [address, block] }])
  return Number(quantityOf(method, answer))
}
