/** `IndexedTransfer` as a node reports it: parsed once, here. */
import {
  type Address,
  type Bytes32,
  parseAddress,
  parseBytes32,
  parseTxHash,
  SvcError,
  type TxHash,
} from '@svc-zerc20/protocol'
import { z } from 'zod'

/** One transfer with its place on the chain. */
export type TransferLog = {
  /** Position of the leaf. */
  readonly index: number
  readonly from: Address
  readonly to: Address
  readonly value: bigint
  readonly blockNumber: number
  readonly blockHash: Bytes32
  readonly transactionHash: TxHash
  readonly logIndex: number
}

/** topic0 of `IndexedTransfer(uint256 indexed index, address from, address to, uint256 value)`. */
export const transferTopic = '0xb9285eeffc25fae3689fd1d4d3245dbc73f87f3bc8cb50c1de55574221805d0d'

const word = /^0x[0-9a-f]{64}$/i

/** A non-negative number that JavaScript counts exactly. */
export const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,64}$/i)
  .transform(Number)
  .refine(Number.isSafeInteger)

const logShape = z.object({
  topics: z.tuple([z.literal(transferTopic), z.string().regex(word)]),
  data: z.string().regex(/^0x(?:[0-9a-f]{64}){3}$/i),
  blockNumber: quantity,
  blockHash: z.string().regex(word),
  transactionHash: z.string().regex(word),
  logIndex: quantity,
  // A node that saw the block leave its chain marks the log instead of leaving it out.
  removed: z.literal(false).optional(),
})

/** Throws `SvcError('rpc_error')` for anything that is no transfer of a mined block. */
export function parseTransferLog(raw: unknown): TransferLog {
  const parsed = logShape.safeParse(raw)
  const malformed = () =>
    new SvcError('rpc_error', 'eth_getLogs: the RPC answered with something that is no IndexedTransfer', {
      cause: parsed.error,
    })
  if (!parsed.success) throw malformed()
  const { topics, data, blockNumber, logIndex } = parsed.data
  const words = [2, 66, 130].map((at) => data.slice(at, at + 64))
  const [from, to] = words.map((text) =>
    /^0{24}/.test(text) ? parseAddress(`0x${text.slice(24)}`) : undefined,
  )
  const blockHash = parseBytes32(parsed.data.blockHash)
  const transactionHash = parseTxHash(parsed.data.transactionHash)
  const index = quantity.safeParse(topics[1]).data
  if (!from || !to || !blockHash || !transactionHash || index === undefined) throw malformed()
  const value = BigInt(`0x${words[2]}`)
  return { index, from, to, value, blockNumber, blockHash, transactionHash, logIndex }
}
