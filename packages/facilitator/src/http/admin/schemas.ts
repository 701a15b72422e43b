/**
 * The bodies and queries of the admin surface, named as in the OpenAPI document. The queries are read with these schemas
 * themselves.
 */
import { type Address, parseChallengeNonce, type TxHash } from '@svc-zerc20/protocol'
import * as z from 'zod'
import { limits } from '../../config/limits.js'
import { purposes } from '../../payment/records.js'
import { readinessProblems } from '../public/health.js'
import {
  address,
  baseUnits,
  count,
  named,
  network,
  nonce,
  pageSize,
  phase,
  seconds,
  secondsInQuery,
  tokenLabel,
  txHash,
  unitsInQuery,
} from '../schema-parts.js'
import { recordedPayment, stuckAddress, waitReason } from './view.js'

const issuanceState = z.enum(['open', 'paused'])

export const pauseQuery = z.looseObject({
  message: z
    .string()
    .regex(/^[^\p{Cc}]{1,200}$/u, 'one line, at most 200 characters')
    .optional()
    .describe('why, in one line; whoever asks for a challenge is told'),
})

export const issuance = named(
  'Issuance',
  'Whether new challenges are issued. A pause outlives a restart; only `resume` ends it.',
  z.looseObject({ issuance: issuanceState }),
)

const spent = z
  .looseObject({ transactions: count, gas: baseUnits, wei: baseUnits })
  .describe('since the daemon started')

const cursor = z.string().regex(/^[0-9]{1,16}\.0x[0-9a-f]{64}$/)

export const paymentPage = named(
  'PaymentPage',
  'Payments, newest first. `next` is there when more follow: hand it back as `after`.',
  z.looseObject({ payments: z.array(recordedPayment), next: cursor.optional() }),
)

export const paymentTimeline = named(
  'PaymentTimeline',
  'One payment, and its turns in order: the events of the ledger that name it. While it waits for its mint, `waiting` tells ' +
    'the step.',
  z.looseObject({
    payment: recordedPayment,
    timeline: z.array(
      z.looseObject({
        at: seconds,
        event: z.string().describe('as the journal names it; new ones may be added'),
        txHash: txHash.optional(),
        reason: z.string().optional(),
      }),
    ),
  }),
)

export const mintRetry = named(
  'MintRetry',
  'What asking for a mint again did. `due`: it is tried in the next round, whatever its back-off said. `finalized`: it was ' +
    'minted before. `not_burned`: nothing was burned for it. `off`: this daemon mints nothing, and `admin status` says why.',
  z.looseObject({
    challengeNonce: nonce,
    mint: z.enum(['due', 'finalized', 'not_burned', 'off']),
  }),
)

export const oddBurns = named(
  'OddBurns',
  'Burns that bought nothing, transfers that cover no challenge, and payments whose burn a reorg took.',
  z.looseObject({
    late: z.array(recordedPayment),
    unmatched: z.array(z.looseObject({ at: seconds, challengeNonce: nonce, txHash, reason: z.string() })),
    demoted: z
      .array(recordedPayment)
      .optional()
      .describe('accepted once, and without a burn since a reorg; those with `granted` were served'),
    stuck: z.array(stuckAddress).optional().describe('transfers that no single proof can mint, newest first'),
    next: cursor.optional(),
  }),
)

const sendingAccount = {
  address,
  balance: baseUnits.optional().describe('wei; absent while the chain is out of reach'),
  pending: count,
}

const queue = z.array(
  z.looseObject({
    account: z.enum(['relayer', 'minter']),
    txNonce: count,
    purpose: z.enum(purposes).describe('what it is for; burns go first'),
    txHash,
    versions: count.describe('1, and one more for each higher fee'),
    signedAt: seconds,
    unfunded: z.boolean(),
  }),
)

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

export const status = named(
  'Status',
  'The daemon at a glance. While the ledger does not answer, `problems` says so, and `issuance`, `payments`, `mints`, `fees` and ' +
    '`challenges` are absent.',
  z.looseObject({
    version: z.string(),
    network,
    token: tokenLabel.optional(),
    profile: z.string(),
    acceptsPayments: z.boolean(),
    ledgerId: z
      .string()
      .optional()
      .describe('addresses of epochs derive from it; `recover --ledger-id` takes it'),
    startedAt: seconds,
    now: seconds,
    issuance: issuanceState.optional(),
    ready: z.boolean(),
    problems: readinessProblems,
    payments: z
      .looseObject({
        open: count,
        claimed: count,
        expired: count,
        accepted: count,
        finalized: count,
        late: count.describe('burns that were mined or presented after expiry'),
        demoted: count.optional().describe('accepted once, and without a burn since a reorg'),
        found: count.optional().describe('burns that were not late and bought nothing either'),
        unmatched: count,
      })
      .optional(),
    mints: z
      .looseObject({
        awaiting: count,
        owed: baseUnits.describe('what they come to, in base units'),
        oldestAt: seconds.optional(),
        oldestSeconds: count.optional(),
        reasons: z.record(z.string(), count).describe('how many wait for what'),
        nextBatches: z
          .array(z.looseObject({ payments: count, of: count, latestAt: seconds }))
          .optional()
          .describe(
            'payments that gather, epoch by epoch: how many, of how many accounts they have to be, and when they go at the latest',
          ),
        decider: z
          .looseObject({ since: seconds, heardAt: seconds.optional().describe('when it last answered') })
          .optional()
          .describe('a batch proof that the decider is asked for; absent while none is'),
        off: z.string().optional().describe('why nothing is minted here'),
      })
      .optional()
      .describe('burned and not minted yet: owed to the provider'),
    fees: fees.optional(),
    chain: z
      .looseObject({
        reachable: z.boolean(),
        head: baseUnits.optional(),
        roundTripMs: count.optional(),
        clockSkewSeconds: z
          .int()
          .optional()
          .describe(
            'our clock less the chain, as far as the difference is sure; negative when we are behind',
          ),
      })
      .describe('as last seen'),
    challenges: z.looseObject({ open: count, max: count }).optional(),
    addresses: z.looseObject({ ready: count, target: count }),
    relayer: z.looseObject({
      ...sendingAccount,
      spent: z.looseObject({ burn: spent, mint: spent }).describe('by both accounts'),
    }),
    minter: z
      .looseObject(sendingAccount)
      .optional()
      .describe('the account that sends mints; absent when the relayer does'),
    queue: queue.describe('transactions in flight'),
    history: z
      .looseObject({
        records: count.describe('lines of its file'),
        bytes: count.describe('of its file'),
        failed: z.boolean().describe('the disk refuses its records'),
      })
      .optional()
      .describe('absent when no payment history is attached'),
    daemons: z
      .array(
        z.looseObject({
          name: z.string(),
          here: z.boolean().describe('the one that answers'),
          alive: z.boolean(),
          silentSeconds: count.describe('since its last sign of life'),
        }),
      )
      .optional()
      .describe('the daemons that share this ledger; absent without storage.url'),
    leases: z
      .array(
        z.looseObject({
          name: z
            .string()
            .describe(
              '`work`: who sends, follows the token and mints; `send` and an account: who sends from that one',
            ),
          term: count.describe('grows with each holder'),
          holder: z.string().optional().describe('the daemon that holds it; absent while none does'),
        }),
      )
      .optional()
      .describe('which daemon does what; absent without storage.url'),
    journal: z
      .looseObject({
        records: count.describe('events of the ledger'),
        syncs: count.describe('groups of events that were written since the start'),
        bytes: count,
        failed: z.boolean(),
        lost: z.boolean().optional().describe('its file is gone from its place'),
        freeBytes: count.optional().describe('room left on its disk'),
      })
      .optional()
      .describe('absent when settlement.journal is "none" and there is no storage.url'),
  }),
)

const paging = {
  after: cursor
    .transform((text) => {
      const [issuedAt = '', rest = ''] = text.split('.')
      const known = parseChallengeNonce(rest)
      return known && { issuedAt: Number(issuedAt), nonce: known }
    })
    .optional()
    .describe('`next` of the page before'),
  limit: pageSize,
}

export const pageQuery = z.object(paging)

export const paymentQuery = z.object({
  phase: phase.optional().describe('only payments in this phase'),
  since: secondsInQuery.optional().describe('issued at or after, unix seconds'),
  until: secondsInQuery.optional().describe('issued before, unix seconds'),
  minAmount: unitsInQuery.optional().describe('at least this much, base units'),
  maxAmount: unitsInQuery.optional().describe('at most this much, base units'),
  seller: z.string().max(40).optional().describe('only those that this seller’s token asked for'),
  find: z
    .string()
    .regex(/^0x(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/)
    .transform((text) => text.toLowerCase() as TxHash | Address)
    .optional()
    .describe('a challenge nonce, the hash of a burn, or a burn address; the other keys do not count then'),
  ...paging,
})

export const waitingQuery = z.object({
  reason: waitReason.optional().describe('only those that wait for this'),
  limit: pageSize,
})

export const waitingPage = named(
  'WaitingPage',
  'Payments that are burned and not minted, the longest waiting first.',
  z.looseObject({ payments: z.array(recordedPayment) }),
)

const hour = z
  .string()
  .regex(/^[0-9]{1,12}$/)
  .transform((text) => Number(text) - (Number(text) % 3_600))

export const hoursQuery = z
  .object({
    since: hour.describe('unix seconds; the hour that it is in counts whole'),
    until: hour.describe(`unix seconds, at most ${limits.hoursDaysMax} days later; that hour counts no more`),
  })
  .check(({ value: { since, until }, issues }) => {
    const isWithin = since < until && until - since <= limits.hoursDaysMax * 86_400
    const message = `has to be later than since, by at most ${limits.hoursDaysMax} days`
    if (!isWithin) issues.push({ code: 'custom', path: ['until'], message, input: until })
  })

const sum = z.looseObject({ payments: count, amount: baseUnits })

export const hours = named(
  'Hours',
  'What each hour brought. Hours in which nothing happened are left out.',
  z.looseObject({
    hours: z.array(
      z.looseObject({
        at: seconds.describe('when the hour began'),
        accepted: sum.describe('burns that bought something'),
        fees: baseUnits.describe('fees in them'),
        finalized: sum.describe('mints that became deep enough'),
      }),
    ),
  }),
)

export const mintsQuery = z.object({
  after: z
    .string()
    .regex(/^[0-9]{1,12}\.[0-9]{1,15}\.[0-9]{1,9}$/)
    .transform((text) => {
      const [at = 0, payment = 0, place = 0] = text.split('.').map(Number)
      return { at, payment, place }
    })
    .optional()
    .describe('`next` of the page before'),
  limit: pageSize,
})

export const mintPage = named(
  'MintPage',
  'Burns and their mints, the newest mints first, and the settings that say how well they hide. `next` is there when more ' +
    'follow: hand it back as `after`.',
  z.looseObject({
    mints: z.array(
      z.looseObject({
        challengeNonce: nonce,
        at: seconds.describe('when the mint was deep enough'),
        burn: txHash,
        burned: baseUnits,
        fee: baseUnits.optional().describe('the part that is not the provider’s'),
        minted: baseUnits,
        transaction: txHash.optional().describe('the mint; several payments of a batch share one'),
        block: baseUnits.optional(),
        batch: z.boolean().describe('minted as a part of a sum'),
        company: count.describe(
          'burns that were not minted before it, itself included: those of its amount, in a batch those of any amount',
        ),
      }),
    ),
    settings: z.looseObject({
      mode: z.enum(['single', 'batch']).describe('finalize.mode'),
      delayMaxSeconds: z.number().describe('finalize.delay_max_ms, in seconds'),
      batchLeast: count.describe('finalize.batch_least'),
      batchWaitMaxSeconds: z.number().describe('finalize.batch_wait_max_ms, in seconds'),
      ownMinter: z.boolean().describe('mints come from another account than burns (SVC_MINTER_PK)'),
    }),
    next: z.string().optional(),
  }),
)

export const indexerView = named(
  'IndexerView',
  'How far the indexer is, as it says itself. Payments wait until a proved root covers their burns.',
  z.looseObject({
    reachable: z.boolean(),
    leaves: count.optional().describe('transfers in its tree'),
    proved: count.optional().describe('transfers under a root that the verifier has'),
    block: count.optional().describe('the last block it has read'),
    problem: z.string().optional().describe('what keeps it from going on, or why it was not heard'),
    off: z.string().optional().describe('why it is not asked: nothing is minted here'),
  }),
)
