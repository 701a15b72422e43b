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
import { createSerial } from '@svc-zerc20/protocol'
import type { Address } from 'viem'
import { fromEngineError } from './engine-errors.js'

/** The embedded EVM. It mines only when told to: see block-builder.ts. */
export type Engine = {
  /** Answers one call, or throws `RpcError` in geth's wording. */
  request(method: string, params?: readonly unknown[]): Promise<unknown>
}

/** The values of a genesis block. The same values give the same block hash. */
export type Genesis = {
  chainId: number
  /** Unix seconds. */
  time: number
  balances: readonly { address: Address; wei: bigint }[]
}

const engineLimits = { blockGas: 60_000_000n, defaultTransactionGas: 16_777_216n } as const
const genesisBaseFeeWei = 1_000_000_000n
const coinbase = hexBytes('0xc014ba5ec014ba5ec014ba5ec014ba5ec014ba5e')

// The engine allows one context per process; every chain of the process shares it.
let sharedContext: Promise<EdrContext> | undefined

function context(): Promise<EdrContext> {
  sharedContext ??= (async () => {
    const created = new EdrContext()
    await created.registerProviderFactory(L1_CHAIN_TYPE, l1ProviderFactory())
    return created
  })()
  return sharedContext
}

/** Creates an EVM at its genesis block, with nothing in its mempool. */
export async function createEngine(genesis: Genesis): Promise<Engine> {
  const provider = await (await context()).createProvider(
    L1_CHAIN_TYPE,
    {
      // Several blocks may be mined within one second.
      allowBlocksWithSameTimestamp: true,
      allowUnlimitedContractSize: false,
      bailOnCallFailure: true,
      bailOnTransactionFailure: false,
      chainId: BigInt(genesis.chainId),
      networkId: BigInt(genesis.chainId),
      coinbase,
      defaultTransactionGasLimit: engineLimits.defaultTransactionGas,
      genesisState: [
        ...l1GenesisState(l1HardforkFromString(PRAGUE)),
        ...genesis.balances.map(({ address, wei }) => ({
          address: hexBytes(address),
          balance: wei,
          code: new Uint8Array(),
        })),
      ],
      hardfork: PRAGUE,
      initialBaseFeePerGas: genesisBaseFeeWei,
      minGasPrice: 0n,
      // The engine's own automine refuses transactions with a future txNonce, so it stays off.
      mining: {
        autoMine: false,
        blockGasLimit: engineLimits.blockGas,
        memPool: { order: MineOrdering.Priority },
      },
      network: { genesisBlockGasLimit: engineLimits.blockGas, genesisBlockTime: BigInt(genesis.time) },
      observability: {},
      ownedAccounts: [],
      precompileOverrides: [],
    },
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => undefined },
    { subscriptionCallback: () => undefined },
    new ContractDecoder(),
  )
  async function ask(method: string, params: readonly unknown[]): Promise<unknown> {
    const response = await provider.handleRequest(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    // Small answers arrive as text, large ones as an object; both without `jsonrpc` and `id`.
    const answer: EngineAnswer = typeof response.data === 'string' ? JSON.parse(response.data) : response.data
    if (answer.error !== undefined) throw fromEngineError(answer.error)
    return answer.result
  }

  // The engine works on one request at a time, but gives each that waits a thread, and every thread keeps megabytes of its own.
  const serial = createSerial()
  return { request: (method, params = []) => serial(() => ask(method, params)) }
}

type EngineAnswer = { result?: unknown; error?: { code: number; message: string; data?: unknown } }

function hexBytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex.slice(2), 'hex'))
}
