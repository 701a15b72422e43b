/**
 * The bodies and queries of the admin surface, named as in the OpenAPI document. The queries are read with these schemas
 * themselves.
 */
import { parseChallengeNonce } from '@svc-zerc20/protocol'
import { z } from 'zod'
import { lateReasons } from '../../payment/records.js'
import { type WaitReason, waitReasons } from '../../payment/waits.js'
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
} from '../schema-parts.js'
import { fees } from './fee-schemas.js'

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
  'Whether new challenges are issued. A restart opens it again.',
  z.looseObject({ issuance: issuanceState }),
)

const burn = named(
  'Burn',
  'A transfer to the burn address, as the chain recorded it.',
  z.looseObject({
    transaction: txHash,
    block: baseUnits,
    leafIndex: baseUnits,
    from: address,
    value: baseUnits,
  }),
)

const mint = named(
  'Mint',
  'What was minted to the provider for a burn, as the chain recorded it.',
  z.looseObject({ transaction: txHash.optional(), block: baseUnits.optional(), value: baseUnits }),
)

const lateBurn = named(
  'LateBurn',
  'A burn that buys nothing, and why. `late`: mined or presented after expiry. `unpresented`: mined in time, and nobody ' +
    'presented it. `second`: larger than the burn that was accepted; the difference is minted. `split`, `underpaid`: less ' +
    'than the amount, with or without others that make up for it. `unrecorded`: found on the chain, without a record.',
  z.looseObject({
    ...burn.shape,
    reason: z.enum(lateReasons),
    mint: mint.optional().describe('its own mint, where the payment has another'),
    finalizedAt: seconds.optional(),
  }),
)

const stuckAddress = named(
  'StuckTransfers',
  'An address that got more than one leaf can bring: its transfers, and what lies there beyond the largest.',
  z.looseObject({
    challengeNonce: nonce,
    payTo: address,
    stuck: baseUnits,
    transfers: z.array(z.looseObject({ ...burn.shape, at: seconds })),
  }),
)

const waitReason = named(
  'WaitReason',
  'What a burn that is not minted yet waits for. New ones may be added.',
  z.enum(Object.keys(waitReasons) as [WaitReason, ...WaitReason[]]),
)

const spent = z
  .looseObject({ transactions: count, gas: baseUnits, wei: baseUnits })
  .describe('since the daemon started')

const fee = named(
  'Fee',
  'The fee of one payment, as it was when the challenge was issued.',
  z.looseObject({
    amount: baseUnits,
    bps: count.describe('basis points of the list price'),
    chargeTo: z.enum(['payer', 'provider']).describe('on top of the list price, or out of it'),
    recipient: address.optional().describe('gets it from the treasury; absent in split mode'),
    swept: z.boolean().optional().describe('the treasury has sent it to the recipient'),
  }),
)

const recordedPayment = named(
  'RecordedPayment',
  'A challenge and what became of it.',
  z.looseObject({
    challengeNonce: nonce,
    phase,
    amount: baseUnits,
    listPrice: baseUnits,
    fee: fee.optional().describe('the part of the amount that is not the provider’s'),
    payTo: address,
    treasury: address.optional().describe('where its mint goes'),
    issuedAt: seconds,
    expiresAt: seconds,
    claimed: z.boolean().describe('a payload was presented; its burn is under way or done'),
    transaction: txHash.optional(),
    burn: burn.optional(),
    surplus: baseUnits.optional().describe('what was burned beyond the amount'),
    acceptedAt: seconds.optional(),
    demoted: z.boolean().optional().describe('a reorg took its burn away; it waits for a burn again'),
    mint: mint.optional(),
    finalizedAt: seconds.optional(),
    granted: z.boolean().describe('the one success answer was written'),
    late: lateBurn.optional().describe('a burn that buys nothing; it is minted all the same'),
    waiting: z
      .looseObject({ reason: waitReason, meaning: z.string(), since: seconds.optional() })
      .optional()
      .describe('why it is not minted yet'),
  }),
)

const cursor = z.string().regex(/^[0-9]{1,16}\.0x[0-9a-f]{64}$/)

export const paymentPage = named(
  'PaymentPage',
  'Payments, newest first. `next` is there when more follow: hand it back as `after`.',
  z.looseObject({ payments: z.array(recordedPayment), next: cursor.optional() }),
)

export const challengePage = named(
  'ChallengePage',
  'Open challenges, newest first, and the cap on them.',
  z.looseObject({
    open: count,
    max: count,
    issuance: issuanceState,
    challenges: z.array(recordedPayment),
    next: cursor.optional(),
  }),
)

export const paymentTimeline = named(
  'PaymentTimeline',
  'One payment, and its turns in order. Steps of an earlier run of the daemon are in its log.',
  z.looseObject({
    payment: recordedPayment,
    timeline: z.array(
      z.looseObject({
        at: seconds,
        event: z.string(),
        txHash: txHash.optional(),
        reason: z.string().optional(),
        company: count
          .optional()
          .describe('waiting burns of this amount when its mint was proved: any of them could explain it'),
      }),
    ),
  }),
)

export const mintRetry = named(
  'MintRetry',
  'What asking for a mint again did. `due`: it is tried in the next round, whatever its back-off said.',
  z.looseObject({
    challengeNonce: nonce,
    mint: z.enum(['due', 'finalized', 'not_burned', 'off']),
  }),
)

export const epochClose = named(
  'EpochClose',
  'What closing the epoch of a payment did. `closing`: the transfers that were left out of it are minted now. `complete`: ' +
    'none is left. `running`: addresses of the epoch are still made. `single`: the payment belongs to no epoch.',
  z.looseObject({
    challengeNonce: nonce,
    epoch: z.enum(['closing', 'complete', 'running', 'single', 'off']),
    transfers: count.describe('transfers that are minted now'),
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
    nonce: count,
    purpose: z.enum(['burn', 'mint', 'distribution']).describe('what it is for; burns go first'),
    txHash,
    forms: count.describe('1, and one more for each higher fee'),
    signedAt: seconds,
    unfunded: z.boolean(),
  }),
)

const minterAbout = 'the account that sends mints; absent when the relayer does'

export const relayerView = named(
  'RelayerView',
  'The keys that broadcast burns and mints: their money and what they have in flight.',
  z.looseObject({
    ...sendingAccount,
    spent: z.looseObject({ burn: spent, mint: spent }).describe('by both accounts'),
    queue,
    minter: z
      .looseObject({ ...sendingAccount, queue })
      .optional()
      .describe(minterAbout),
  }),
)

export const status = named(
  'Status',
  'The daemon at a glance.',
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
    issuance: issuanceState,
    ready: z.boolean(),
    problems: readinessProblems,
    payments: z.looseObject({
      open: count,
      claimed: count,
      expired: count,
      accepted: count,
      finalized: count,
      late: count.describe('burns that were mined or presented after expiry'),
      demoted: count.optional().describe('accepted once, and without a burn since a reorg'),
      found: count.optional().describe('burns that were not late and bought nothing either'),
      unmatched: count,
    }),
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
            'payments that gather, epoch by epoch: how many of how many, and when they go at the latest',
          ),
        decider: z
          .looseObject({ since: seconds, heardAt: seconds.optional().describe('when it last answered') })
          .optional()
          .describe('a batch proof that the decider is asked for; absent while none is'),
        off: z.string().optional().describe('why nothing is minted here'),
      })
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
    challenges: z.looseObject({ open: count, max: count }),
    addresses: z.looseObject({ ready: count, target: count }),
    relayer: z.looseObject({ ...sendingAccount, spent: z.looseObject({ burn: spent, mint: spent }) }),
    minter: z.looseObject(sendingAccount).optional().describe(minterAbout),
    history: z
      .looseObject({
        records: count.describe('lines of its file'),
        bytes: count.describe('of its file'),
        failed: z.boolean().describe('the disk refuses its records'),
      })
      .optional()
      .describe('absent when no payment history is attached'),
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
      .describe('absent when settlement.journal is "none"'),
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
  ...paging,
})
