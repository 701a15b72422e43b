export type { Clock } from '@svc-zerc20/protocol'
export type { FacilitatorFailure, OnProblem } from './facilitator-client.js'
export type { GateOptions, PaidSale } from './gate.js'
export { type ClientLimits, clientLimits, type Limits, limits } from './limits.js'
export { SvcMcpServer, type ToolSale } from './mcp-server.js'
export type { Offers, Terms } from './offers.js'
export {
  type PaidToolOptions,
  paidTool,
  paymentMeta,
  paymentResponseMeta,
  type ToolContent,
  type ToolExtra,
  type ToolHandler,
  type ToolResult,
} from './paid-tool.js'
export type { ListPrice, RouteSale, SaleTerms, StandardFields } from './route-offer.js'
export { createSvcScheme, type SvcScheme, type SvcSchemeOptions } from './scheme.js'
export type { SealSecret, SealSecrets } from './seal.js'
export { sellOnExpress } from './sell-on-express.js'
export { sellOnHono } from './sell-on-hono.js'
export { type NextGateOptions, sellOnNext } from './sell-on-next.js'
