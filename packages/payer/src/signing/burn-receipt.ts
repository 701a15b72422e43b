/** Whether a transaction that somebody names is the burn of a payment. A seller's word is no proof of it. */
import type { TxHash } from '@svc-zerc20/protocol'
import { type Address, type Log, type PublicClient, parseAbi, parseEventLogs } from 'viem'

const transferAbi = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)'])

export type NamedBurn = { readonly token: string; readonly payTo: string; readonly amount: string }

/** Undefined while the chain does not have the transaction, or cannot be asked. */
export type IsBurn = (hash: TxHash, burn: NamedBurn) => Promise<boolean | undefined>

export const createIsBurn =
  (client: PublicClient, checkChain: () => Promise<void>): IsBurn =>
  async (hash, { token, payTo, amount }) => {
    try {
      await checkChain()
      const receipt = await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })
      if (receipt === null) return undefined
      const logs = receipt.logs.filter(({ address }) => isSame(address, token)) as unknown as Log[]
      return (
        receipt.status === '0x1' &&
        parseEventLogs({ abi: transferAbi, logs }).some(
          ({ args }) => isSame(args.to, payTo) && args.value >= BigInt(amount),
        )
      )
    } catch {
      return undefined
    }
  }

const isSame = (a: Address, b: string) => a.toLowerCase() === b.toLowerCase()
