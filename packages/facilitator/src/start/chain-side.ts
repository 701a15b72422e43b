/** Everything that speaks to the node: one client, the reader, the gas prices, and the accounts that send. */
import { createGasPrices, createJsonRpc, type GasPrices, type JsonRpc } from '@svc-zerc20/evm'
import { type Address, type Clock, SvcError } from '@svc-zerc20/protocol'
import { parseGwei } from 'viem/utils'
import { type ChainReader, createChain } from '../chain/chain.js'
import { countRpc } from '../chain/count-rpc.js'
import { readDeployment, readTokenLabel } from '../chain/lens.js'
import type { Config } from '../config/config.js'
import { limits } from '../config/limits.js'
import type { Secrets } from '../config/secrets/secrets.js'
import { rpcOptions } from '../config/settings.js'
import type { Deployment } from '../payment/ports.js'
import { createMintSender, type MintSender } from '../sending/relayer/mint-sender.js'
import { addressOf, createRelayer, type Relayer } from '../sending/relayer/relayer.js'
import type { Telemetry } from '../telemetry/telemetry.js'

export type ChainSide = {
  readonly rpc: JsonRpc
  readonly chain: ChainReader
  /** The price of gas. */
  readonly gasPrices: GasPrices
  readonly deployment: Deployment
  /** The account that sends burns here. */
  readonly relayer: Address
  /** Makes the accounts that send, without anything under way. */
  openSenders(terms: SenderTerms): Senders
}

export type SenderTerms = {
  /** How an account records a transaction that does nothing. */
  readonly recordEmpty: Parameters<typeof createRelayer>[0]['recordEmpty']
}

export type Senders = {
  readonly relayer: Relayer
  /** The account that sends mints, when it is not the relayer. */
  readonly minter: Relayer | undefined
  /** Mints go through it, whichever account sends them. */
  readonly mintSender: MintSender
}

/** A client of the node, and the reader. A node of another chain is refused. */
export async function openChainReader(
  { network, settlement }: Config,
  wrap: (rpc: JsonRpc) => JsonRpc = (rpc) => rpc,
): Promise<Pick<ChainSide, 'rpc' | 'chain'> & Pick<Deployment, 'chainId' | 'tokenName'>> {
  const rpc = wrap(createJsonRpc(rpcOptions(network.rpc_url)))
  const { chainId, tokenName, headNumber } = await readDeployment(rpc, network.token)
  if (chainId !== network.chain_id) {
    throw new SvcError(
      'config_invalid',
      `network.chain_id: is ${network.chain_id}, the RPC reports ${chainId}`,
    )
  }
  const chain = createChain({
    rpc,
    token: network.token,
    helper: settlement.permit_burner,
    chainId,
    fromBlock: network.deployed_block,
    ...limits,
  })
  chain.sawHead(headNumber)
  return { rpc, chain, chainId, tokenName }
}

/** Reads the deployment before anything is served. */
export async function openChainSide(deps: {
  readonly config: Config
  readonly secrets: Secrets
  readonly clock: Clock
  readonly telemetry: Telemetry
}): Promise<ChainSide> {
  const { config, secrets, clock, telemetry } = deps
  const { network, settlement } = config
  const { rpc, chain, chainId, tokenName } = await openChainReader(config, (bare) =>
    countRpc(bare, telemetry.metrics),
  )
  const tokenLabel = await readTokenLabel(rpc, network.token)
  const gasPrices = createGasPrices({
    rpc,
    clock,
    freshMs: limits.gasPricesFreshMs,
    bumpPercent: limits.priceBumpPercent,
    feePerGasMax: parseGwei(`${settlement.max_fee_per_gas_gwei}`),
    tipPerGasMax: parseGwei(`${settlement.max_priority_fee_gwei}`),
  })
  const sending = {
    rpc,
    gasPrices,
    chainId,
    confirmations: settlement.confirmations,
    reorgWatchBlocks: settlement.reorg_watch_blocks,
    clock,
    report: telemetry.log,
    onHead: chain.sawHead,
  }
  const account = secrets.relayer.reveal()
  return {
    rpc,
    chain,
    relayer: addressOf(account),
    openSenders({ recordEmpty }) {
      const relayer = createRelayer({ ...sending, account, recordEmpty, limits })
      const minter =
        secrets.minter &&
        // No burns wait behind these mints, so nothing is kept back for burns.
        createRelayer({
          ...sending,
          account: secrets.minter.reveal(),
          recordEmpty,
          limits: { ...limits, mintReserveGas: 0n },
        })
      return { relayer, minter, mintSender: createMintSender({ relayer, minter }) }
    },
    gasPrices,
    deployment: {
      chainId,
      token: network.token,
      tokenName,
      ...(tokenLabel && { tokenLabel }),
      treasury: settlement.treasury,
      ...(settlement.permit_burner !== undefined && { helper: settlement.permit_burner }),
    },
  }
}
