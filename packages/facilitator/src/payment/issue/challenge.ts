/** List price → open challenge with a fresh payTo and nonce. */
import {
  accept,
  type BaseUnits,
  type Clock,
  type FacilitatorApi,
  type Keccak,
  type Result,
  reject,
  SvcError,
  toChecksum,
  type UnixSeconds,
  unixSeconds,
} from '@svc-zerc20/protocol'
import type { Ledger, Pause } from '../ledger-port.js'
import type { AddressSource, Asker, Chain, Deployment, Tickets } from '../ports.js'
import type { Challenge } from '../records.js'
import type { Report } from '../report.js'
import { type Quote, type QuoteTerms, quote } from './fee.js'

/**
 * Burns are looked for from this many blocks before the head: the head we saw may be undone, or may never
 * have existed.
 */
const reorgMarginBlocks = 64n

/**
 * A daemon that was stopped for a while may find its ready addresses issued by another one, which took it for dead: as many
 * as it had.
 */
const takenAddressesMax = 64

export type IssueChallenge = (
  listPrice: BaseUnits,
  asker: Asker,
) => Promise<Result<FacilitatorApi.ChallengeOffer>>

export function createIssueChallenge(deps: {
  deployment: Deployment
  addresses: AddressSource
  ledger: Ledger
  tickets: Tickets
  chain: Pick<Chain, 'headNumber'>
  clock: Clock
  report: Report
  ttlSeconds: number
  /** How much later than the offer its permit ends. */
  permitOutlivesOfferSeconds: number
  addressWaitMs: number
  terms: QuoteTerms
  /**
   * Below this amount the gasless path is not offered: relaying would cost more gas than the payment is
   * worth.
   */
  relayMinAmount: bigint
  keccak: Keccak
}): IssueChallenge {
  const { deployment, addresses, ledger, chain, clock, report } = deps
  // In every offer, and always the same.
  const constants = {
    token: toChecksum(deployment.token),
    helper: deployment.helper && toChecksum(deployment.helper),
    chainId: deployment.chainId,
    ...(deployment.tokenLabel && { tokenLabel: deployment.tokenLabel }),
  }

  return async (listPrice, asker) => {
    const quoted = quote(listPrice, deps.terms)
    if (!quoted.ok) return quoted
    for (let left = takenAddressesMax; ; left--) {
      try {
        return await issueOne(quoted.value, asker)
      } catch (error) {
        if (!(error instanceof SvcError && error.code === 'nonce_reused') || left === 0) throw error
      }
    }
  }

  /** Throws `SvcError('nonce_reused')` when another daemon has issued this address. */
  async function issueOne(price: Quote, asker: Asker): Promise<Result<FacilitatorApi.ChallengeOffer>> {
    const address = await addresses.take(deps.addressWaitMs, asker)
    if (!address) {
      const paused = await ledger.pause()
      return paused ? refusedBy(paused) : reject('address_pool_empty')
    }
    if (asker.gone.aborted) {
      addresses.giveBack(address)
      return reject('address_pool_empty')
    }

    const isRelayed = deployment.helper !== undefined && price.amount >= deps.relayMinAmount
    const issuedAt = unixSeconds(clock)
    const expiresAt = (issuedAt + deps.ttlSeconds) as UnixSeconds
    const challenge: Challenge = {
      nonce: address.challengeNonce,
      payTo: address.payTo,
      powNonce: address.powNonce,
      ...(address.epoch && { epoch: address.epoch }),
      treasury: deployment.treasury,
      ...(asker.seller !== undefined && { seller: asker.seller }),
      ...price,
      issuedAt,
      expiresAt,
      // A burn that is claimed in the last second is mined after that. Nothing is claimed behind expiresAt all the same.
      ...(isRelayed && { deadline: (expiresAt + deps.permitOutlivesOfferSeconds) as UnixSeconds }),
      issuedAtBlock: bigintMax(0n, chain.headNumber() - reorgMarginBlocks),
    }
    const outcome = await ledger.issue(challenge)
    if (outcome !== 'issued') {
      // A flood of refused callers would otherwise use up the proof of work.
      addresses.giveBack(address)
      return outcome === 'limit' ? reject('challenge_limit') : refusedBy(outcome)
    }
    report({ event: 'challenge.issued', challengeNonce: challenge.nonce, amount: challenge.amount })
    return accept({ ...toOffer(challenge, constants, deps.keccak), ticket: deps.tickets.of(challenge.nonce) })
  }
}

const refusedBy = ({ words }: Pause) =>
  reject('issuance_paused', words === undefined ? undefined : `paused by the operator: ${words}`)

const bigintMax = (a: bigint, b: bigint) => (a > b ? a : b)

/** Fields of every offer. */
type Constants = Pick<FacilitatorApi.ChallengeOffer, 'token' | 'chainId' | 'tokenLabel'> & {
  readonly helper: FacilitatorApi.ChallengeOffer['helper'] | undefined
}

function toOffer(
  challenge: Challenge,
  { helper, ...constants }: Constants,
  keccak: Keccak,
): FacilitatorApi.ChallengeOffer {
  return {
    payTo: toChecksum(challenge.payTo, keccak),
    amount: `${challenge.amount}`,
    ...constants,
    challengeNonce: challenge.nonce,
    expiresAt: challenge.expiresAt,
    ...(helper !== undefined && challenge.deadline !== undefined && { helper, deadline: challenge.deadline }),
    // A fee that the provider bears is not shown: it would reveal the provider's terms.
    ...(challenge.fee?.chargeTo === 'payer' && {
      fee: { amount: `${challenge.fee.amount}`, bps: challenge.fee.bps },
    }),
  }
}
