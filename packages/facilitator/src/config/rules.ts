/** Rules between keys. Each rule looks only at valid values. */
import { amountLimit } from '@svc-zerc20/protocol'
import type { Finding } from './finding.js'
import type { PartialConfig } from './schema.js'

type Broken = Pick<Finding, 'key' | 'message'>
/** Whether the file has a key, valid or not. An invalid one was already reported. */
type IsGiven = (path: string) => boolean

/** Each rule, as the reference of the file prints it. */
export const rules: readonly {
  readonly text: string
  readonly judge: (config: PartialConfig, isGiven: IsGiven) => Broken[]
}[] = [
  {
    text: '`settlement.max_priority_fee_gwei` is at most `settlement.max_fee_per_gas_gwei`.',
    judge: judgeGas,
  },
  {
    text: 'Neither `settlement.treasury` nor `fee.recipient` is one of the contracts that the file names: what is paid to those is lost.',
    judge: judgeRecipients,
  },
  {
    text: 'A price can bear the fee: `fee.bps` is below 10000 if the provider bears it, and `fee.min_per_payment` is below 2^248.',
    judge: judgeFeeAmount,
  },
  {
    text:
      '`fee.splitter` selects split mode: it equals `settlement.treasury`, `fee.bps` is at least 1 and `fee.min_per_payment` is ' +
      '0. Without it the mode is custodial, and `fee.recipient` is required, which is not the treasury.',
    judge: judgeFeeMode,
  },
  {
    text:
      '`settlement.min_amount` is set where `finalize.mode` is `batch`: payments of one base unit would be company for nobody, ' +
      'and fill the batches.',
    judge: judgeCompany,
  },
  {
    text:
      'Every seller has a unique name and a unique token, and the sum of all `sellers.max_open_challenges` is at most ' +
      '`daemon.max_open_challenges`.',
    judge: judgeSellers,
  },
]

export const judgeRules = (config: PartialConfig, isGiven: IsGiven): Broken[] =>
  rules.flatMap(({ judge }) => judge(config, isGiven))

function judgeGas({ settlement }: PartialConfig): Broken[] {
  const { max_fee_per_gas_gwei: whole, max_priority_fee_gwei: tip } = settlement
  if (whole === undefined || tip === undefined || tip <= whole) return []
  const key = 'settlement.max_priority_fee_gwei'
  return [{ key, message: `must not exceed settlement.max_fee_per_gas_gwei, which is ${whole}, is ${tip}` }]
}

/** Whoever can pay next to nothing can surround a payment with its own, and so read from a sum whom that one paid. */
function judgeCompany({ finalize, settlement }: PartialConfig, isGiven: IsGiven): Broken[] {
  const key = 'settlement.min_amount'
  if (finalize.mode !== 'batch' || (settlement.min_amount ?? 0n) > 0n) return []
  if (settlement.min_amount === undefined && isGiven(key)) return []
  const why = 'payments of one base unit would surround others in a batch, and so name who is paid'
  return [{ key, message: `must be above zero where finalize.mode is "batch": ${why}` }]
}

/** Money minted or sent to one of the system's own contracts would be lost. */
function judgeRecipients({ network, settlement, fee }: PartialConfig): Broken[] {
  const contracts = {
    'network.token': network.token,
    'network.verifier': network.verifier,
    'network.hub': network.hub,
    'settlement.permit_burner': settlement.permit_burner,
  }
  const recipients = { 'settlement.treasury': settlement.treasury, 'fee.recipient': fee?.recipient }
  return Object.entries(recipients).flatMap(([key, recipient]) =>
    Object.entries(contracts)
      .filter(([, contract]) => recipient !== undefined && recipient === contract)
      .map(([name]) => ({ key, message: `is ${name}: what is paid to that contract is lost` })),
  )
}

function judgeFeeMode({ fee, settlement }: PartialConfig, isGiven: IsGiven): Broken[] {
  if (fee === undefined) return []
  return isGiven('fee.splitter')
    ? judgeSplitMode(fee, settlement)
    : judgeCustodialMode(fee, settlement, isGiven('fee.recipient'))
}

type PartialFee = NonNullable<PartialConfig['fee']>

/** A fee that no price can bear would refuse every challenge. */
function judgeFeeAmount({ fee = {} }: PartialConfig): Broken[] {
  const { bps, charge_to: chargeTo, min_per_payment: least } = fee
  const problems: Broken[] = []
  if (bps === 10_000 && chargeTo === 'provider') {
    const message = 'must be below 10000 when fee.charge_to is "provider": the fee would be the whole price'
    problems.push({ key: 'fee.bps', message })
  }
  if (least !== undefined && least >= amountLimit) {
    problems.push({ key: 'fee.min_per_payment', message: `must be below 2^248, is ${least}` })
  }
  return problems
}

function judgeCustodialMode(
  { recipient }: PartialFee,
  { treasury }: PartialConfig['settlement'],
  isRecipientTried: boolean,
): Broken[] {
  const key = 'fee.recipient'
  if (!isRecipientTried) {
    return [{ key, message: 'required in custodial fee mode (fee.splitter would choose split mode)' }]
  }
  if (recipient === undefined || recipient !== treasury) return []
  return [{ key, message: 'is settlement.treasury: the fee would be sent to where it already is' }]
}

function judgeSplitMode(fee: PartialFee, { treasury }: PartialConfig['settlement']): Broken[] {
  const problems: Broken[] = []
  if (fee.splitter !== undefined && treasury !== undefined && fee.splitter !== treasury) {
    problems.push({
      key: 'fee.splitter',
      message: `must equal settlement.treasury, which is ${treasury}, is ${fee.splitter}`,
    })
  }
  if (fee.bps === 0) problems.push({ key: 'fee.bps', message: 'must be at least 1 in split mode, is 0' })
  if (fee.min_per_payment !== undefined && fee.min_per_payment !== 0n) {
    problems.push({
      key: 'fee.min_per_payment',
      message: `must be 0 in split mode, is ${fee.min_per_payment}`,
    })
  }
  return problems
}

/** Sellers need distinct names and tokens, and no more challenges can be kept for them than there are. */
function judgeSellers({ sellers, daemon }: PartialConfig): Broken[] {
  const problems: Broken[] = []
  for (const name of ['name', 'token_sha256'] as const) {
    for (const [index, seller] of sellers.entries()) {
      const first = sellers.findIndex((other) => other[name] === seller[name])
      if (seller[name] === undefined || first === index) continue
      problems.push({ key: `sellers[${index}].${name}`, message: `is that of sellers[${first}], too` })
    }
  }
  const kept = sellers.reduce((sum, { max_open_challenges: own = 0 }) => sum + own, 0)
  const { max_open_challenges: all } = daemon
  if (all !== undefined && kept > all) {
    const key = `sellers[${sellers.length - 1}].max_open_challenges`
    const message = `all sellers together must have at most daemon.max_open_challenges, which is ${all}, have ${kept}`
    problems.push({ key, message })
  }
  return problems
}
