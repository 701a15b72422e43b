/** Rules between keys. Each rule looks only at valid values. */

import type { Finding } from '../finding.js'
import type { Config, PartialConfig } from './keys.js'

type Rule = Pick<Finding, 'key' | 'message'>

/** `tried` says whether the file has a key, valid or not. An invalid one was already reported. */
export function judgeRules(config: PartialConfig, tried: (path: string) => boolean): Rule[] {
  return [
    ...judgeGas(config),
    ...judgeRecipients(config),
    ...judgeFee(config, tried),
    ...judgeSellers(config),
  ]
}

function judgeGas({ settlement }: PartialConfig): Rule[] {
  const { max_fee_per_gas_gwei: whole, max_priority_fee_gwei: tip } = settlement
  if (whole === undefined || tip === undefined || tip <= whole) return []
  const key = 'settlement.max_priority_fee_gwei'
  return [{ key, message: `must not exceed settlement.max_fee_per_gas_gwei, which is ${whole}, is ${tip}` }]
}

/** Money minted or sent to one of the system's own contracts would be lost. */
function judgeRecipients({ network, settlement, fee }: PartialConfig): Rule[] {
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

function judgeFee({ fee, settlement }: PartialConfig, tried: (path: string) => boolean): Rule[] {
  if (fee === undefined) return []
  if (!tried('fee.splitter')) {
    if (tried('fee.recipient')) return []
    return [
      {
        key: 'fee.recipient',
        message: 'required in custodial fee mode (fee.splitter would choose split mode)',
      },
    ]
  }
  const problems: Rule[] = []
  const { treasury } = settlement
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

/** Sellers need distinct names and tokens, and their reserved shares may not add up to more than all. */
function judgeSellers({ sellers }: PartialConfig): Rule[] {
  const problems: Rule[] = []
  for (const name of ['name', 'token_sha256'] as const) {
    for (const [place, seller] of sellers.entries()) {
      const first = sellers.findIndex((other) => other[name] === seller[name])
      if (seller[name] === undefined || first === place) continue
      problems.push({ key: `sellers[${place}].${name}`, message: `is that of sellers[${first}], too` })
    }
  }
  const percent = sellers.reduce((sum, { reserved_percent: part = 0 }) => sum + part, 0)
  if (percent > 100) {
    const key = `sellers[${sellers.findLastIndex(({ reserved_percent: part = 0 }) => part > 0)}].reserved_percent`
    problems.push({ key, message: `all sellers together must have at most 100, have ${percent}` })
  }
  return problems
}

/** Settings without effect in this version are refused, so that nobody believes that they work. */
export function judgeAvailability({ fee }: Pick<Config, 'fee'> | PartialConfig): Rule[] {
  return fee === undefined
    ? []
    : [{ key: 'fee', message: 'fees are not available in this version; remove the table' }]
}
