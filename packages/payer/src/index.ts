export type { Clock } from '@svc-zerc20/protocol'
export { baseUnits } from '@svc-zerc20/protocol'
export { systemClock } from '@svc-zerc20/protocol/system-clock'
export { deliverPayments } from './delivery/deliver-payments.js'
export { withSpendControls } from './delivery/spend-controls.js'
export { defaultLimits, type PayerLimits } from './limits.js'
export type { Payer } from './payer/assemble-payer.js'
export type { Payment, PayStep, Purchased } from './payer/bought.js'
export {
  type CreatePayerOptions,
  createPayer,
  createPayerScheme,
  type PayerOptions,
} from './payer/create-payer.js'
export type { PayOptions } from './payer/pay.js'
export { createPayerFromEnvironment } from './payer/payer-from-environment.js'
export type { Quote, QuotedOffer } from './payer/quote.js'
export { PayerError, type PayerErrorCode, payerErrors } from './payer-error.js'
export type { ApprovalRequest, Approver } from './policy/approval.js'
export type { PayerAccount, PayerMode, PayerScheme } from './signing/scheme.js'
export type { DeliveryState, PaymentRecord } from './state/payments.js'
export type { RuleName, Verdict } from './verdict.js'
