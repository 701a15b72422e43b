export { type Clock, systemClock } from './clock.js'
export { deliverPayments } from './delivery/deliver-payments.js'
export {
  createPaymentMemory,
  type DeliveryState,
  type PaymentMemory,
  type PaymentRecord,
} from './delivery/payment-memory.js'
export { defaultLimits, type PayerLimits } from './limits.js'
export { PayerError, type PayerErrorCode, payerErrors } from './payer-error.js'
export { createPayerScheme, type PayerScheme } from './scheme/client-scheme.js'
export type { PayerAccount, PayerMode, PayerOptions } from './scheme/payer-options.js'
export { readSpendChoices, type SpendChoices } from './scheme/spend-choices.js'
export { withSpendControls } from './scheme/spend-controls.js'
