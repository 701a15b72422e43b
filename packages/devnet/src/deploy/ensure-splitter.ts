import { feeSplitterAbi, feeSplitterBytecode, feeSplitterRuntime, readRuntime } from '@svc-zerc20/contracts'
import { type Address, encodeDeployData, getContractAddress, type Hex, numberToHex, pad } from 'viem'
import { type ChainClient, createChainClient } from './chain-client.js'
import { nextNonce, sendSteps } from './send-steps.js'

/** The parameters of a splitter. They never change. */
export type SplitterTerms = {
  readonly token: Address
  readonly provider: Address
  readonly feeRecipient: Address
  readonly bps: number
  readonly payerPays: boolean
}

/** Transactions of the deployer among which a splitter of an earlier start is searched. */
const earlierMax = 64

/**
 * The splitter with these terms. The fee recipient deploys it, and uses its account for nothing else. So the splitters
 * of earlier starts on the same chain are at the addresses of its first transactions.
 */
export async function ensureSplitter(options: {
  rpcUrl: string
  deployer: { privateKey: Hex }
  terms: SplitterTerms
  log: (line: string) => void
}): Promise<Address> {
  const { terms, log } = options
  const client = createChainClient({ rpcUrl: options.rpcUrl, privateKey: options.deployer.privateKey })
  const from = client.wallet.account.address
  const nonce = await nextNonce(client)
  for (let earlier = 0; earlier < Math.min(nonce, earlierMax); earlier++) {
    const address = getContractAddress({ from, nonce: BigInt(earlier) })
    if (await hasTerms(client, address, terms)) return address
  }
  const { token, provider, feeRecipient, bps, payerPays } = terms
  const args = [token, provider, feeRecipient, bps, payerPays] as const
  const data = encodeDeployData({ abi: feeSplitterAbi, bytecode: feeSplitterBytecode, args })
  await sendSteps(client, nonce, [{ what: 'fee splitter deployed', data }], log)
  return getContractAddress({ from, nonce: BigInt(nonce) })
}

async function hasTerms({ read }: ChainClient, address: Address, terms: SplitterTerms): Promise<boolean> {
  const immutables = readRuntime((await read.getCode({ address })) ?? '0x', feeSplitterRuntime)
  if (immutables === undefined) return false
  const word = (value: Address | number) =>
    pad(typeof value === 'number' ? numberToHex(value) : (value.toLowerCase() as Hex))
  return (
    immutables.token === word(terms.token) &&
    immutables.provider === word(terms.provider) &&
    immutables.feeRecipient === word(terms.feeRecipient) &&
    immutables.bps === word(terms.bps) &&
    immutables.payerPays === word(terms.payerPays ? 1 : 0)
  )
}
