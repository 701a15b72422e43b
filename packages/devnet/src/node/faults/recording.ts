import type { BlockBuilder } from '../block-builder.js'
import type { BlockFile } from '../persistence.js'

/** Wraps a builder so that every block and every rollback is written to the file. */
export function recordBlocks(builder: BlockBuilder, file: BlockFile): BlockBuilder {
  return {
    ...builder,
    async build(seed) {
      const block = await builder.build(seed)
      file.appendBlock({ ...block, transactions: block.transactions.map(({ raw }) => raw) })
      return block
    },
    async follow(height) {
      await builder.follow(height)
      file.appendRollback(height)
    },
  }
}

/** Mines the file's blocks again on a fresh genesis. Each must get the hash it had. */
export async function restoreBlocks(
  builder: BlockBuilder,
  file: BlockFile,
  genesis: { chainId: number; genesisTime: number },
): Promise<void> {
  const genesisHash = builder.genesisHash()
  if (file.genesis === undefined) return file.appendGenesis({ version: 1, ...genesis, genesisHash })
  if (file.genesis.chainId !== genesis.chainId || file.genesis.genesisHash !== genesisHash) {
    throw new Error(
      'the persisted chain began with another chain id or other accounts; start it as it was or remove its file',
    )
  }
  for (const { number, hash, transactions, ...seed } of file.blocks) {
    for (const raw of transactions) await builder.send(raw)
    const block = await builder.build(seed)
    if (block.hash !== hash)
      throw new Error(`the persisted block ${number} gave ${block.hash} instead of ${hash}`)
  }
}
