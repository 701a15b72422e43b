/**
 * The bodies and queries of the admin surface, named as in the OpenAPI document. The queries are read with these schemas
 * themselves.
 */
import { parseChallengeNonce } from '@svc-zerc20/protocol'
import { z } from 'zod'
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
import { recordedPayment, stuckAddress } from './view.js'

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

const spent = z
  .looseObject({ transactions: count, gas: baseUnits, wei: baseUnits })
  .describe('since the daemon started')

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
  'What asking for a mint again did. `due`: it is tried in the next round, whatever its back-off said. `finalized`: it was ' +
    'minted before. `not_burned`: nothing was burned for it. `off`: this daemon mints nothing, and `admin status` says why.',
  z.looseObject({
    challengeNonce: nonce,
    mint: z.enum(['due', 'finalized', 'not_burned', 'off']),
  }),
)

export const epochClose = named(
  'EpochClose',
  'What closing the epoch of a payment did. `closing`: the transfers that were left out of it are minted now. `complete`: ' +
    'none is left. `running`: addresses of the epoch are still made, so wait until it is over (finalize.epoch_seconds). ' +
    '`single`: the payment belongs to no epoch. `off`: this daemon mints nothing.',
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
