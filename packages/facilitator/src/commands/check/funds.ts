/** The cost of gas at the current price, and whether the accounts that send transactions can pay for it. */
import type { Address } from '@svc-zerc20/protocol'
import { formatEther, formatUnits } from 'viem/utils'
import type { PartialConfig } from '../../config/config.js'
import { type Finding, fail, ok, warn } from '../../config/finding.js'
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

/** Gas of one transfer out of the treasury, rounded up from contracts/test/gas-snapshot.json. */
const sweep = {
  gas: 80_000n,
  reserves: 'a transfer of fees',
  lost: 'no fee can be sent to fee.recipient',
}

export async function probeFunds(
  view: ChainView,
  config: PartialConfig,
  keys: KeyAddresses,
): Promise<Finding[]> {
  if (keys === undefined) return []
  const { relayer, minter, treasury } = keys
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
  // Another finding reports a treasury that has not this key, or whose key sends burns, too.
  const isSweeper = config.settlement.treasury === treasury && treasury !== relayer
  if (mints && isSweeper && config.fee?.recipient !== undefined && config.fee.splitter === undefined) {
    payers.push({ key: 'SVC_TREASURY_PK', name: 'treasury', address: treasury, duty: sweep })
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
    return { ...fail(key, message), start: 'anyway' }
  }
  const cost = duty.gas * price
  if (balance < cost) {
    return warn(key, `${has}; ${duty.reserves} reserves ${formatEther(cost)} at the present price`)
  }
  return ok(key, has)
}

/** Gas of a single payment, rounded from contracts/test/gas-snapshot.json. Burns that share a transaction cost less. */
export const paymentGas = { burn: 140_000n, mint: 310_000n } as const

/** With so many payments of its own around another one a stranger reads half the time whom that one paid (`npm run privacy`). */
const surroundingPayments = 40n

/**
 * The gas cost of one payment, so that nobody unknowingly sells below it. In batches a stranger's payments must cost it something,
 * too. What a token is worth is not known here: a whole one is compared as one of the native currency.
 */
export function judgeCosts(
  { profile, settlement, finalize }: Pick<PartialConfig, 'profile' | 'settlement' | 'finalize'>,
  gasPrice: bigint,
  decimals?: number,
): Finding {
  const key = 'settlement.min_amount'
  const isRelayed = settlement.permit_burner !== undefined
  const burn = `${formatEther(paymentGas.burn * gasPrice)} for its burn when it is relayed and `
  const mintWei = paymentGas.mint * gasPrice
  const mint = `${formatEther(mintWei)} for its mint`
  const cost = `at the present gas price a payment costs ${isRelayed ? burn : ''}${mint}, in the native currency`
  const least = settlement.min_amount ?? 0n
  const surrounding = surroundingPayments * least
  if (finalize.mode === 'batch' && least > 0n && decimals !== undefined) {
    const price = `${surroundingPayments} payments around another one, which may name whom that paid, cost ${formatUnits(surrounding, decimals)} of the token`
    if (surrounding * 10n ** 18n < mintWei * 10n ** BigInt(decimals)) {
      return warn(key, `is too low to protect payments in batches: ${price}, less than one mint; ${cost}`)
    }
    return ok(key, `${cost}; ${price}`)
  }
  if (profile === 'local' || least > 0n) return ok(key, cost)
  // Below `relay_min_amount` a payer burns by itself, and the mint is paid here all the same.
  const unset = 'is not set, so payments of one base unit are taken and minted'
  return warn(key, `${unset}; ${cost}`)
}
