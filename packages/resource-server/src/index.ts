export { baseUnits, type Clock } from '@svc-zerc20/protocol'
export type { FacilitatorFailure, OnProblem } from './facilitator/client.js'
export { sellOnExpress } from './frameworks/express.js'
export { sellOnHono } from './frameworks/hono.js'
export { type NextGateOptions, sellOnNext } from './frameworks/next.js'
export type { GateOptions, PaidSale } from './gate/gate.js'
export { type AnswerLimits, type ClientLimits, clientLimits, type Limits, limits } from './limits.js'
export {
  type PaidToolOptions,
  paidTool,
  paymentMeta,
  paymentResponseMeta,
  type ToolContent,
  type ToolExtra,
  type ToolHandler,
  type ToolResult,
} from './mcp/paid-tool.js'
export { SvcMcpServer, type ToolAnswers, type ToolSale } from './mcp/server.js'
export type { Offers } from './offers/offers.js'
export type { SealSecret, SealSecrets } from './offers/seal.js'
export type { ListPrice, SaleTerms, StandardFields, Terms } from './offers/terms.js'
export type { PaywallLook } from './paywall/look.js'
export { type SvcPaywall, svcPaywall } from './paywall/provider.js'
export type { RouteSale } from './scheme/route-offer.js'
export { createSvcScheme, type SvcScheme, type SvcSchemeOptions } from './scheme/scheme.js'
export { type AnswerStore, createMemoryAnswers } from './served/answer-store.js'
