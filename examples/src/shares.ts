/** Shows who has what of finalized payments: the provider, and the fee recipient where a fee is taken. */
import {
  type Address,
  createWalletClient,
  type Hex,
  http,
  type PrivateKeyAccount,
  type PublicClient,
  parseAbi,
} from 'viem'

type Network = {
  readonly rpcUrl: string
  readonly facilitatorUrl: string
  readonly adminToken: string
  readonly splitter?: Address
  readonly accounts: Readonly<Record<'provider' | 'feeRecipient', { readonly address: Address }>>
}
type Holdings = { readonly provider: bigint; readonly feeRecipient: bigint; readonly splitter: bigint }
type Payment = { readonly nonce: string }

const splitterAbi = parseAbi(['function distribute() returns (uint256, uint256)'])

export function openShares(deps: {
  readonly network: Network
  readonly payer: PrivateKeyAccount
  readonly chain: PublicClient
  readonly tokensOf: (owner: Address) => Promise<bigint>
  readonly units: (amount: bigint) => string
  readonly say: (text: string) => void
}) {
  const { network, payer, chain, tokensOf, units } = deps
  const { splitter, accounts } = network
  const say = (text: string) => deps.say(`            ${text}`)

  const read = async (): Promise<Holdings> => ({
    provider: await tokensOf(accounts.provider.address),
    feeRecipient: await tokensOf(accounts.feeRecipient.address),
    splitter: splitter === undefined ? 0n : await tokensOf(splitter),
  })

  /** The fees that the facilitator recorded for the payments. */
  async function feesOf(payments: readonly Payment[]): Promise<bigint> {
    const fees = payments.map(async ({ nonce }) => {
      const response = await fetch(`${network.facilitatorUrl}/admin/payments/${nonce}`, {
        headers: { authorization: `Bearer ${network.adminToken}` },
      })
      const { payment } = (await response.json()) as { payment: { fee?: { amount: string } } }
      return BigInt(payment.fee?.amount ?? 0)
    })
    return (await Promise.all(fees)).reduce((sum, fee) => sum + fee, 0n)
  }

  /** Anybody may divide what a splitter holds. Here the payer does it, unless the daemon was faster. */
  async function distribute(address: Address): Promise<Hex> {
    const wallet = createWalletClient({ account: payer, transport: http(network.rpcUrl) })
    const call = { abi: splitterAbi, functionName: 'distribute', chain: null } as const
    const hash = await wallet.writeContract({ ...call, address })
    // Looking for a replacement can hide the block from the wait, and here nobody replaces the transaction.
    await chain.waitForTransactionReceipt({ hash, checkReplacement: false })
    return hash
  }

  return {
    read,
    async tell(before: Holdings, payments: readonly Payment[]): Promise<void> {
      const fees = await feesOf(payments)
      if (splitter !== undefined) {
        const { splitter: held } = await read()
        say(`the splitter holds ${units(held)}, minted; anybody may divide it, and the payer does`)
        if (held > 0n) await distribute(splitter)
      }
      const now = await read()
      const gained = now.provider - before.provider
      say(`the provider has ${units(gained)} more, minted; no mint names a payer`)
      if (fees === 0n) return
      const paid = now.feeRecipient - before.feeRecipient
      say(`the fee is ${units(fees)}; its recipient ${accounts.feeRecipient.address} has ${units(paid)} more`)
      if (splitter === undefined && paid < fees) {
        say('the rest of the fee is in the treasury, the account of the provider here, and is sent on later')
      }
    },
  }
}
