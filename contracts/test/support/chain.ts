// An EDR chain in this process. Keys and order of deployment are fixed, so addresses, signatures and gas are the
// same on every run.
import {
  ContractDecoder,
  EdrContext,
  L1_CHAIN_TYPE,
  l1GenesisState,
  l1HardforkFromString,
  l1ProviderFactory,
  MineOrdering,
  PRAGUE,
} from '@nomicfoundation/edr'
import {
  type Abi,
  type Address,
  createWalletClient,
  custom,
  type Hex,
  hexToBytes,
  publicActions,
  RpcRequestError,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'

const blockGasLimit = 60_000_000n
const genesisTime = 1_800_000_000n
const funds = 10n ** 24n

/** Key of the account that deploys, owns and relays in these tests. */
const operatorKey: Hex = `0x${'07'.repeat(32)}`

/** A deadline that no block of these tests reaches. */
export const farDeadline = genesisTime + 1_000_000n

export type Chain = Awaited<ReturnType<typeof startChain>>

/** Starts a chain with one funded account, mining each transaction at once. */
export async function startChain() {
  const operator = privateKeyToAccount(operatorKey)
  const context = new EdrContext()
  await context.registerProviderFactory(L1_CHAIN_TYPE, l1ProviderFactory())
  const provider = await context.createProvider(
    L1_CHAIN_TYPE,
    {
      allowBlocksWithSameTimestamp: true,
      allowUnlimitedContractSize: false,
      bailOnCallFailure: true,
      bailOnTransactionFailure: false,
      chainId: BigInt(foundry.id),
      networkId: BigInt(foundry.id),
      coinbase: new Uint8Array(20),
      defaultTransactionGasLimit: blockGasLimit,
      genesisState: [
        ...l1GenesisState(l1HardforkFromString(PRAGUE)),
        { address: hexToBytes(operator.address), balance: funds, code: new Uint8Array() },
      ],
      hardfork: PRAGUE,
      initialBaseFeePerGas: 1_000_000_000n,
      minGasPrice: 0n,
      mining: { autoMine: true, blockGasLimit, memPool: { order: MineOrdering.Fifo } },
      network: { genesisBlockGasLimit: blockGasLimit, genesisBlockTime: genesisTime },
      observability: {},
      ownedAccounts: [],
      precompileOverrides: [],
    },
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => {} },
    { subscriptionCallback: () => {} },
    new ContractDecoder(),
  )

  const request = async ({ method, params = [] }: { method: string; params?: unknown }): Promise<unknown> => {
    const body = { jsonrpc: '2.0', id: 1, method, params }
    const { data } = await provider.handleRequest(JSON.stringify(body))
    const answer = typeof data === 'string' ? JSON.parse(data) : data
    if (answer.error) throw new RpcRequestError({ body, error: answer.error, url: 'edr' })
    return answer.result
  }

  const client = createWalletClient({
    account: operator,
    chain: foundry,
    transport: custom({ request }, { retryCount: 0 }),
  }).extend(publicActions)

  /** The receipt of a transaction that succeeded. It was mined before the node gave its hash. */
  const mined = async (hash: Hex) => {
    const receipt = await client.getTransactionReceipt({ hash })
    if (receipt.status !== 'success') throw new Error(`transaction ${hash} reverted`)
    return receipt
  }

  const deploy = async (abi: Abi, bytecode: Hex, args: readonly unknown[]): Promise<Address> => {
    const { contractAddress } = await mined(await client.deployContract({ abi, bytecode, args }))
    if (!contractAddress) throw new Error('a deployment without an address')
    return contractAddress
  }

  return { client, operator, mined, deploy }
}
