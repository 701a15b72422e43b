import { PayerError, type PayerErrorCode } from './payer-error.js'

/** The name of a rule, as `inspect`, refusals and the audit log write it. */
export type RuleName =
  | 'host'
  | 'network'
  | 'token'
  | 'helper'
  | 'per-payment'
  | 'quoted'
  | 'resume'
  | 'total'
  | 'per-host'
  | 'per-day'
  | 'expiry'
  | 'deadline'
  | 'approval'
  | 'price'

/** The judgement of one rule on one purchase. */
export type Verdict = {
  readonly rule: RuleName
  /** `ask` passes once a human approves. */
  readonly passes: 'yes' | 'no' | 'ask'
  /** The limit of the rule. */
  readonly limit: string
  /** The value that the offer asks for. */
  readonly asked: string
  /** The error code of a refusal. */
  readonly code: PayerErrorCode
  /** Advice, where another limit refused than the one that the code advises to raise. */
  readonly todo?: string
}

/** A refusal in words: the rule, its limit, and what was asked. */
export const refusalOf = ({ rule, limit, asked, code, todo }: Verdict): PayerError =>
  new PayerError(code, `rule ${rule}: asked ${asked}, allowed ${limit}`, {
    rule: { rule, limit, asked },
    todo,
  })

/** Throws the first refusal among verdicts. */
export function assertPasses(verdicts: readonly Verdict[]): void {
  const refused = verdicts.find(({ passes }) => passes === 'no')
  if (refused) throw refusalOf(refused)
}
