/** The head of the chain, as far as a block backs it: a node can name any number once. */
import { type BlockRef, isBacked, type JsonRpc, readHead } from '@svc-zerc20/evm'

export type ChainHead = ReturnType<typeof createChainHead>

export function createChainHead(deps: {
  readonly rpc: Pick<JsonRpc, 'batch'>
  /** A head further than this from the known one is looked up at the node before it is used. */
  readonly headStepBlocks: bigint
}) {
  const { rpc } = deps
  let head = 0n
  let isAsking = false

  async function lookUp(number: bigint): Promise<void> {
    isAsking = true
    try {
      if (await isBacked(rpc, number)) head = number
    } catch {
      // The next head that the node names is looked up again.
    } finally {
      isAsking = false
    }
  }

  return {
    /** The newest block the node was seen to have, give or take a few; no round trip. */
    number: () => head,
    /** Notes a newest block that was seen to exist. */
    saw(blockNumber: bigint): void {
      head = blockNumber
    },
    /**
     * Notes the newest block that the node named. A block far from the known head is looked up before it counts, off the
     * request's path. A head that is a few blocks old does no harm; a head that no block backs would.
     */
    heard({ number }: BlockRef): void {
      const step = number > head ? number - head : head - number
      if (!isAsking && step > deps.headStepBlocks) void lookUp(number)
    },
    /** Reads the newest block, and checks that the node has it. */
    async read(): Promise<bigint> {
      head = await readHead(rpc)
      return head
    },
    /**
     * The block from which the depth of a burn is counted. Never below the burn's own block, whose receipt was just read;
     * above it only when the depth is needed and the node has the block it names as its newest.
     */
    async above(burnedIn: bigint | undefined, latest: BlockRef, isDepthNeeded: boolean): Promise<bigint> {
      if (burnedIn === undefined || !isDepthNeeded || latest.number <= burnedIn) return burnedIn ?? head
      return (await isBacked(rpc, latest.number)) ? latest.number : burnedIn
    },
  }
}
