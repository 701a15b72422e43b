/** Checks that the fee reaches its recipient, and the rest the provider: by the splitter, or by the treasury's key. */
import { feeSplitterRuntime, type Immutables, readRuntime } from '@svc-zerc20/contracts'
import { type Address, parseAddress, toChecksum, zeroAddress } from '@svc-zerc20/protocol'
import type { PartialConfig } from '../../config/config.js'
import { type Finding, fail, ok } from '../../config/finding.js'
import type { ChainView } from './chain-view.js'

/** The addresses of the two keys; undefined when a key is missing or malformed. */
export type KeyAddresses =
  | {
      readonly treasury: Address
      readonly relayer: Address
      /** Absent when the relayer sends mints. */
      readonly minter?: Address
    }
  | undefined

type Fee = NonNullable<PartialConfig['fee']>

export async function probeFee(
  view: ChainView,
  config: PartialConfig,
  keys: KeyAddresses,
): Promise<Finding[]> {
  const { fee } = config
  if (fee === undefined) return []
  if (fee.splitter !== undefined) return probeSplitter(view, config, fee, fee.splitter)
  return keys === undefined ? [] : judgeCustody(config, fee, keys)
}

/**
 * Money that was minted to a splitter goes where its code and its immutables send it, for ever. So both are compared
 * before the first payment.
 */
async function probeSplitter(
  view: ChainView,
  config: PartialConfig,
  fee: Fee,
  splitter: Address,
): Promise<Finding[]> {
  const key = 'fee.splitter'
  // That it is another address than the treasury is said already, and which of them is meant is not known.
  if (splitter !== config.settlement.treasury) return []
  if (!(await view.hasCode(splitter))) return [fail(key, `no contract at ${splitter}`)]
  const immutables = readRuntime(await view.code(splitter), feeSplitterRuntime)
  if (immutables === undefined) {
    return [fail(key, `the code at ${splitter} is not our FeeSplitter: nobody knows whom it pays`)]
  }
  const terms = readTerms(immutables)
  if (terms === undefined) return [fail(key, `${splitter} has parameters that no FeeSplitter has`)]
  const problems = judgeTerms(terms, config, fee)
  if (problems.length > 0) return problems
  const { provider, feeRecipient, bps, payerPays } = terms
  const share = `${bps} basis points ${payerPays ? 'on top of' : 'out of'} the price`
  return [ok(key, `pays the provider ${toChecksum(provider)}, and ${share} to ${toChecksum(feeRecipient)}`)]
}

type SplitterTerms = {
  readonly token: Address
  readonly provider: Address
  readonly feeRecipient: Address
  readonly bps: number
  readonly payerPays: boolean
}

/** Undefined for words that our constructor never writes: the same code can be deployed with another constructor. */
function readTerms(words: Immutables<typeof feeSplitterRuntime>): SplitterTerms | undefined {
  const [token, provider, feeRecipient] = [words.token, words.provider, words.feeRecipient].map(addressIn)
  const [bps, payerPays] = [BigInt(words.bps), BigInt(words.payerPays)]
  if (!token || !provider || !feeRecipient) return undefined
  if (bps < 1n || bps > 10_000n || payerPays > 1n) return undefined
  return { token, provider, feeRecipient, bps: Number(bps), payerPays: payerPays === 1n }
}

function addressIn(word: string): Address | undefined {
  const address = /^0x0{24}/.test(word) ? parseAddress(`0x${word.slice(26)}`) : undefined
  return address === zeroAddress ? undefined : address
}

function judgeTerms(terms: SplitterTerms, { network, settlement }: PartialConfig, fee: Fee): Finding[] {
  const { splitter, bps, charge_to: chargeTo, recipient } = fee
  const problems: Finding[] = []
  const differ = (key: string, message: string) => problems.push(fail(key, message))
  if (network.token !== undefined && terms.token !== network.token) {
    differ('fee.splitter', `${splitter} divides the token ${terms.token}, not network.token`)
  }
  if (bps !== undefined && terms.bps !== bps) {
    differ('fee.bps', `is ${bps}, but the splitter takes ${terms.bps}`)
  }
  if (chargeTo !== undefined && terms.payerPays !== (chargeTo === 'payer')) {
    const taken = terms.payerPays ? 'on top of the price ("payer")' : 'out of the price ("provider")'
    differ('fee.charge_to', `is "${chargeTo}", but the splitter takes its fee ${taken}`)
  }
  if (recipient !== undefined && terms.feeRecipient !== recipient) {
    differ('fee.recipient', `is ${recipient}, but the splitter pays the fee to ${terms.feeRecipient}`)
  }
  const ours = [splitter, network.token, network.verifier, network.hub, settlement.permit_burner]
  for (const [role, paid] of [
    ['provider', terms.provider],
    ['fee recipient', terms.feeRecipient],
  ] as const) {
    if (ours.includes(paid))
      differ('fee.splitter', `its ${role} is the contract ${paid}: what is paid to it is lost`)
  }
  if (terms.provider === terms.feeRecipient) {
    differ('fee.splitter', `pays provider and fee to one account, ${terms.provider}`)
  }
  return problems
}

function judgeCustody(
  { settlement }: PartialConfig,
  { recipient }: Fee,
  keys: NonNullable<KeyAddresses>,
): Finding[] {
  const { treasury } = settlement
  if (treasury === undefined || recipient === undefined) return []
  if (treasury !== keys.treasury) {
    const message = `is ${treasury}, but SVC_TREASURY_PK, which sends the fee on, is the key of ${keys.treasury}`
    return [fail('settlement.treasury', message)]
  }
  if (keys.treasury === keys.relayer) {
    const message = 'is also SVC_TREASURY_PK: its burns and mints would displace the transfers of fees'
    return [fail('SVC_RELAYER_PK', message)]
  }
  return [ok('fee.recipient', `the treasury's key sends the fee on to ${toChecksum(recipient)}`)]
}
