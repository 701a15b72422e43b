/** The bodies and queries of the fees on the admin surface, named as in the OpenAPI document. */
import * as z from 'zod'
import { address, baseUnits, count, named, seconds, tokenLabel, txHash } from '../schema-parts.js'

export const sweepQuery = z.looseObject({
  dryRun: z
    .enum(['true', 'false'], 'true or false')
    .optional()
    .describe('`true`: only tell what would be swept'),
})

const feeSum = z.looseObject({
  payments: count,
  amount: baseUnits,
  oldestAt: seconds.optional().describe('since when the first of them is due'),
})

const sweep = { recipient: address, amount: baseUnits, payments: count }

const feeError = z.looseObject({ reason: z.string().optional(), message: z.string(), at: seconds })

export const fees = named(
  'Fees',
  'The facilitator’s fees of finalized payments: due, under way and swept.',
  z.looseObject({
    mode: z
      .enum(['none', 'custodial', 'split'])
      .describe('how fees of new payments are paid; fees of older ones are swept in any mode'),
    treasury: address.describe('the account of SVC_TREASURY_PK, which sweeps and pays the gas of it'),
    token: tokenLabel.optional(),
    treasuryWei: baseUnits.optional().describe('its money for gas, in custodial mode'),
    earned: baseUnits.optional().describe('due, under way and swept, since the first payment'),
    sweepMin: baseUnits.describe('fee.sweep_min'),
    sweepIntervalSeconds: count.describe('fee.sweep_interval_secs'),
    due: feeSum.describe('fees at the treasury that no sweep has taken'),
    elsewhere: feeSum
      .optional()
      .describe('fees that were minted to another account: its owner has to send them'),
    underWay: z
      .looseObject({ ...sweep, transaction: txHash.optional() })
      .optional()
      .describe('a sweep that is signed and not deep on the chain yet'),
    swept: z.looseObject({
      sweeps: count,
      payments: count,
      amount: baseUnits,
      last: z.looseObject({ ...sweep, transaction: txHash, block: baseUnits, at: seconds }).optional(),
    }),
    lastError: feeError.optional().describe('absent after a sweep that went well'),
    splitter: z
      .looseObject({
        address,
        undistributed: baseUnits.optional().describe('its balance, as last seen'),
        last: z
          .looseObject({ transaction: txHash, amount: baseUnits, at: seconds })
          .optional()
          .describe('the last distribution by this daemon, since it started'),
        lastError: feeError.optional(),
      })
      .optional()
      .describe('only in split mode'),
  }),
)

export const sweepAnswer = named(
  'SweepAnswer',
  'What became of a sweep. `planned`: a dry run. `sent`: signed, recorded and sent. `under_way`: an earlier one has not ' +
    'ended. `nothing_due`, `too_little` (below fee.sweep_min), `too_young` (money was sent to the recipient a moment ago): ' +
    'nothing was sent. `failed`: for the reason beside it.',
  z.looseObject({
    sweep: z.enum(['planned', 'sent', 'under_way', 'nothing_due', 'too_little', 'too_young', 'failed']),
    recipient: address.optional(),
    amount: baseUnits.optional(),
    payments: count.optional(),
    transaction: txHash.optional(),
    reason: z.string().optional(),
    message: z.string().optional(),
  }),
)
