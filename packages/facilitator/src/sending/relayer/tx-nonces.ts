/** Which txNonce of the key is free next: counted by the node once, then by us. */
import { type JsonRpc, quantityOf } from '@svc-zerc20/evm'
import { type Address, createSerial } from '@svc-zerc20/protocol'

export function createTxNonces(deps: {
  rpc: Pick<JsonRpc, 'batch'>
  address: Address
  /** The txNonces that transactions of ours have already. */
  ours: () => readonly number[]
}) {
  const { rpc, address } = deps
  let free: number | undefined
  /** A record that failed may have been written all the same. Its reader then sends its bytes. */
  let isDoubted = false
  const oneByOne = createSerial()

  /** The node's count of mined and waiting ones; never a txNonce that one of ours already has. */
  async function ask(): Promise<number> {
    const counted = await countTransactions(rpc, address, 'pending')
    return deps.ours().reduce((least, txNonce) => Math.max(least, txNonce + 1), counted)
  }

  async function takeNow<T>(sign: (txNonce: number) => Promise<T>): Promise<T> {
    if (free === undefined || isDoubted) free = Math.max(free ?? 0, await ask())
    const txNonce = free
    isDoubted = true
    const signed = await sign(txNonce)
    isDoubted = false
    // If the count was forgotten meanwhile, it stays unknown.
    if (free === txNonce) free = txNonce + 1
    return signed
  }

  return {
    /**
     * Runs `sign` with the next free txNonce, while nobody else is given one. It is used once `sign` resolves. If that throws,
     * the next `take` counts again.
     */
    take: <T>(sign: (txNonce: number) => Promise<T>): Promise<T> => oneByOne(() => takeNow(sign)),
    /** Counts again, also what others sent with this key. */
    async count(): Promise<void> {
      free = await ask()
    },
    /** Someone else signed with this key: the next `take` counts again. */
    forget(): void {
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
