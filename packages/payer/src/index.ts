export { createPayerScheme, type PayerScheme } from './client-scheme.js'
export { type Clock, systemClock } from './clock.js'
export { deliverPayments } from './deliver-payments.js'
export { defaultLimits, type PayerLimits } from './limits.js'
export { PayerError, type PayerErrorCode, payerErrors } from './payer-error.js'
export type { PayerAccount, PayerMode, PayerOptions } from './payer-options.js'
export {
  createPaymentMemory,
  type DeliveryState,
  type PaymentMemory,
  type PaymentRecord,
} from './payment-memory.js'
export { readSpendChoices, type SpendChoices } from './spend-choices.js'
export { withSpendControls } from './spend-controls.js'
