export { baseUnits } from '@svc-zerc20/protocol'
export type { ApprovalRequest, Approver } from './approval/approval.js'
export { type Clock, systemClock } from './clock.js'
export { deliverPayments } from './delivery/deliver-payments.js'
export { defaultLimits, type PayerLimits } from './limits.js'
export type { Payer } from './payer/assemble-payer.js'
export { type CreatePayerOptions, createPayer } from './payer/create-payer.js'
export type { Payment, PayOptions, PayStep, Purchased } from './payer/pay.js'
export type { Quote, QuotedOffer } from './payer/quote.js'
export { PayerError, type PayerErrorCode, payerErrors } from './payer-error.js'
export {
  createPaymentMemory,
  type DeliveryState,
  type PaymentMemory,
  type PaymentRecord,
} from './payment/payment-memory.js'
export { createPayerScheme, type PayerScheme } from './scheme/client-scheme.js'
export type { PayerAccount, PayerMode, PayerOptions } from './scheme/payer-options.js'
export { readSpendChoices, type SpendChoices } from './scheme/spend-choices.js'
export { withSpendControls } from './scheme/spend-controls.js'
export type { RuleName, Verdict } from './verdict.js'
