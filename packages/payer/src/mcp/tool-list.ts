/** The tools as agents and documents see them. */
import { noArguments, requestSchema, statusSchema } from './tool-arguments.js'

export const tools = [
  {
    name: 'quote',
    description:
      'Tells what a request or a tool call at another MCP server would cost, and which limits allow it. Pays nothing.',
    inputSchema: requestSchema,
    annotations: { readOnlyHint: true, openWorldHint: true },
  },
  {
    name: 'pay',
    description:
      'Makes a request, or a tool call at another MCP server, pays what it asks within the limits, and hands back the answer as data. A payment whose answer was lost is presented again first.',
    inputSchema: requestSchema,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  },
  {
    name: 'payment_status',
    description: 'Tells what became of a payment, from the own store and the chain.',
    inputSchema: statusSchema,
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: 'budget',
    description: 'Tells the limits, what was spent, what is reserved and what is left.',
    inputSchema: noArguments,
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
]
