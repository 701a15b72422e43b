/** Whether the accounts that send transactions can pay for them. */
import type { Address } from '@svc-zerc20/protocol'
import { formatEther } from 'viem/utils'
import type { PartialConfig } from '../../config/config.js'
import type { Finding } from '../../config/finding.js'
import { limits } from '../../config/limits.js'
import type { ChainView } from './chain-view.js'
import type { KeyAddresses } from './fee.js'

/** An account and what it has to pay for. */
type GasPayer = {
  readonly key: string
  readonly name: string
  readonly address: Address
  readonly duty: { readonly gas: bigint; readonly reserves: string; readonly lost: string }
}

const batchGas = limits.batchBaseGas + BigInt(limits.batchItemsMax) * limits.burnItemGas
/** Gas that the relayer must be able to pay before it sends a mint: the mint itself, and a reserve for burns. */
const mintGas = limits.mintGas + limits.mintReserveGas

export async function probeFunds(
  view: ChainView,
  config: PartialConfig,
  keys: KeyAddresses,
): Promise<Finding[]> {
  if (keys === undefined) return []
  const { relayer, minter } = keys
  const isGasless = config.settlement.permit_burner !== undefined
  // A gated profile mints nothing.
  const mints = config.profile === 'local'
  const nothing = { gas: 0n, reserves: '', lost: '' }
  const mint = { gas: minter ? limits.mintGas : mintGas, reserves: 'a mint', lost: 'nothing can be minted' }
  const burn = {
    gas: batchGas,
    reserves: 'a full batch of burns',
    lost: `no gasless payment can be relayed${minter ? '' : ' and nothing minted'}`,
  }
  const withoutBurns = mints && !minter ? mint : nothing
  const payers: GasPayer[] = [
    { key: 'SVC_RELAYER_PK', name: 'relayer', address: relayer, duty: isGasless ? burn : withoutBurns },
  ]
  if (minter) {
    payers.push({ key: 'SVC_MINTER_PK', name: 'minter', address: minter, duty: mints ? mint : nothing })
  }
  return Promise.all(payers.map((payer) => probePayer(view, payer)))
}

async function probePayer(view: ChainView, { key, name, address, duty }: GasPayer): Promise<Finding> {
  const [balance, price] = await Promise.all([
    view.quantity('eth_getBalance', [address, 'latest']),
    view.quantity('eth_gasPrice', []),
  ])
  const has = `the ${name} ${address} has ${formatEther(balance)} of the native currency`
  if (duty.gas > 0n && balance === 0n) {
    const message = `the ${name} ${address} has no money for gas: ${duty.lost}`
    return { level: 'fail', key, message, start: 'anyway' }
  }
  const cost = duty.gas * price
  if (balance < cost) {
    const message = `${has}; ${duty.reserves} reserves ${formatEther(cost)} at the present price`
    return { level: 'warn', key, message }
  }
  return { level: 'ok', key, message: has }
}
