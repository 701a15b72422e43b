/**
 * Kills the facilitator that sends, in the middle of a payment, and tells how the other one takes over. Both have the same
 * keys, and only one of them may use them at a time.
 */
import { readFileSync } from 'node:fs'
import { type Address, createTestClient, http, publicActions } from 'viem'

type Facilitator = { readonly name: string; readonly pid: number; readonly logFile: string }

const waitMsMax = 60_000
const lookMs = 50

/** Stops the chain from making blocks, so that a burn stays on its way. Call `killSender` once it may be sent. */
export async function holdBlocks(options: {
  readonly network: {
    readonly rpcUrl: string
    readonly facilitators: readonly Facilitator[]
    readonly accounts: { readonly relayer: { readonly address: Address } }
  }
  readonly line: (text: string) => void
}): Promise<{ killSender(): Promise<void> }> {
  const { network, line } = options
  const chain = createTestClient({ mode: 'hardhat', transport: http(network.rpcUrl) }).extend(publicActions)
  await chain.setAutomine(false)
  const { address } = network.accounts.relayer
  const sent = (blockTag: 'latest' | 'pending') => chain.getTransactionCount({ address, blockTag })
  return {
    async killSender() {
      await until('a burn is sent', async () => (await sent('pending')) > (await sent('latest')))
      const sender = network.facilitators.find(isSending)
      const other = network.facilitators.find((facilitator) => facilitator !== sender)
      if (!sender || !other) throw new Error('no facilitator says that it sends')
      const killedMs = performance.now()
      process.kill(sender.pid, 'SIGKILL')
      line(`${sender.name} has sent the burn, no block has it yet: kill -9 ${sender.pid}`)
      await until(`${other.name} takes over`, async () => isSending(other))
      const seconds = ((performance.now() - killedMs) / 1000).toFixed(1)
      line(`${other.name} took over after ${seconds} s, and sends the same burn again: it can burn once`)
      await chain.setAutomine(true)
    },
  }
}

/** By the last that its log says about it. */
function isSending({ logFile }: Facilitator): boolean {
  const told = readFileSync(logFile, 'utf8').match(/"event":"active\.(?:taken|lost)"/g)
  return told?.at(-1)?.includes('taken') ?? false
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const startedMs = performance.now()
  while (!(await isSo())) {
    if (performance.now() - startedMs > waitMsMax) throw new Error(`in vain: waited until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
}
