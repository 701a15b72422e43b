/** Payers of every kind, and their requests to the facilitators. */
import type { Address, ChallengeNonce, FacilitatorApi, Payload } from '@svc-zerc20/protocol'
import type { SettleAnswer } from '../../src/payment/ports.js'
import { type Call, type Chain, token } from './chain.js'
import type { Daemon } from './daemon.js'
import type { Draws } from './draws.js'
import type { Purchase, Rules } from './rules.js'
import type { Process, Timeline } from './timeline.js'

/** A place where a facilitator runs, or will run again. */
export type Host = {
  readonly name: string
  process: Process
  /** Absent while it starts. */
  daemon?: Daemon | undefined
  /** Its machine is lost: nothing runs there any more. */
  isGone?: boolean
  /** Requests whose connection breaks when the process ends. */
  readonly open: Set<() => void>
}

export type ShopFaults = {
  /** Share of answers that break off on the way, and of payers that do not wait for theirs. */
  answersLost: number
  impatient: number
}

const permitKinds = [
  ...[
    'permit',
    'permit',
    'permit',
    'permit left',
    'permit at two',
    'permit copied',
    'permit drained',
    'permit used',
    'burn copied',
  ],
] as const
const transferKinds = ['transfer', 'transfer', 'transfer raised', 'transfer early', 'abandoned'] as const
/** Such a payer is waited for: ten minutes, in case a resource server brings the payment late. */
const slowKinds = ['unpresented', 'late', 'split'] as const
type Kind = (typeof permitKinds)[number] | (typeof transferKinds)[number] | (typeof slowKinds)[number]

/** Answers after which the same payload is worth presenting again. */
const passing = new Set([
  ...['pending_burn', 'burn_not_found', 'storage_unavailable', 'chain_unavailable', 'relayer_busy'],
  ...['standby', 'payer_must_wait', 'burn_not_held', 'down', 'lost', 'failed', 'internal_error'],
])

/** Answers after which a new signature may help, while the offer is good. */
const resigning = new Set(['permit_nonce_stale', 'permit_nonce_in_use', 'insufficient_funds', 'burn_failed'])

export function createShop(deps: {
  readonly hosts: readonly Host[]
  readonly chain: Chain
  readonly draws: Draws
  readonly timeline: Timeline
  readonly clock: Process['clock']
  readonly faults: ShopFaults
  readonly rules: Rules
  readonly payers: readonly Address[]
  /** How often there are payers whose payments come to rest only after ten minutes. */
  readonly slowShare: number
  readonly trace: (line: string) => void
}) {
  const { hosts, chain, draws, timeline, clock, faults, rules, trace } = deps
  const kinds: readonly Kind[] = [
    ...(draws.happens(0.9) ? permitKinds : []),
    ...(draws.happens(0.5) ? transferKinds : []),
    ...(draws.happens(deps.slowShare) ? slowKinds : []),
  ]

  /** One request to one of the facilitators. `write` gives the answer away, unless the caller is gone. */
  function request<T>(
    handle: (daemon: Daemon) => Promise<T>,
    write: (reply: T, isGone: boolean, process: Process) => string,
  ): Promise<string> {
    const host = draws.oneOf(hosts)
    const { daemon, process } = host
    return new Promise((resolve) => {
      if (!daemon || !process.isAlive())
        return void timeline.after(draws.between(10, 500), () => resolve('down'))
      let isGone = false
      const end = (reason: string) => {
        host.open.delete(breakOff)
        takeBack()
        resolve(reason)
      }
      const breakOff = () => {
        isGone = true
        end('lost')
      }
      host.open.add(breakOff)
      const patienceMs = draws.happens(faults.impatient)
        ? draws.between(10, 3_000)
        : draws.between(25_000, 60_000)
      const takeBack = timeline.after(patienceMs, breakOff)
      timeline.after(draws.between(0, 20), () =>
        process.wake(() => {
          if (!daemon.isActive()) return void timeline.after(draws.between(0, 20), () => end('standby'))
          handle(daemon).then(
            (reply) => {
              const isBroken = isGone || draws.happens(faults.answersLost)
              const reason = write(reply, isBroken, process)
              if (isBroken) return breakOff()
              timeline.after(draws.between(0, 20), () => end(reason))
            },
            (error: unknown) => {
              trace(`request failed ${error}`)
              timeline.after(draws.between(0, 20), () => end('failed'))
            },
          )
        }),
      )
    })
  }

  /** As the HTTP side does: the grant is used when the answer was written, and given back when it could not be. */
  async function settle(
    purchase: Purchase,
    payload: Payload.Payload,
    extra: { readonly ticket?: string },
  ): Promise<string> {
    const askedMs = timeline.now()
    const reason = await request<SettleAnswer>(
      (daemon) => daemon.settle({ payload, ...extra }),
      ({ response, grant }, isGone, process) => {
        // This daemon was stopped meanwhile, and another may answer by now.
        const isLate = grant?.isHeld() === false
        if (grant && (isGone || isLate))
          grant.giveBack().catch((error: unknown) => trace(`grant not given back: ${error}`))
        if (isLate) return 'pending_burn'
        if (grant && !isGone) {
          if (extra.ticket === undefined) rules.broken(`${purchase.nonce} is granted without its ticket`)
          rules.onServed(purchase, response.transaction, { askedMs, process })
          grant.use().catch((error: unknown) => trace(`grant of ${purchase.nonce} not recorded: ${error}`))
        }
        return response.success ? 'served' : (response.errorReason ?? 'refused')
      },
    )
    trace(`settle ${purchase.nonce.slice(0, 10)} ${purchase.kind}: ${reason}`)
    return reason
  }

  async function buy(
    amount: bigint,
    kind: Kind,
  ): Promise<{ offer: FacilitatorApi.ChallengeOffer; purchase: Purchase }> {
    for (;;) {
      let offer: FacilitatorApi.ChallengeOffer | undefined
      await request(
        (daemon) => daemon.issue(amount as never, { gone: new AbortController().signal }),
        (issued, isGone) => {
          if (issued.ok && !isGone) offer = issued.value
          return issued.ok ? 'issued' : issued.reason
        },
      )
      if (offer) {
        const { challengeNonce: nonce, expiresAt, deadline = expiresAt } = offer
        const payTo = offer.payTo.toLowerCase() as Address
        const purchase: Purchase = {
          nonce: nonce as ChallengeNonce,
          payTo,
          amount: BigInt(offer.amount),
          expiresAt,
          deadline,
          kind,
          served: [],
        }
        rules.purchases.set(purchase.nonce, purchase)
        return { offer, purchase }
      }
      await clock.sleep(draws.between(500, 3_000))
    }
  }

  const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}` as const

  function sign(purchase: Purchase, payer: Address): Payload.PermitPayload {
    const { nonce: challengeNonce, amount, deadline } = purchase
    const { permitNonce } = chain.holderAt(chain.tip(), payer)
    return {
      kind: 'permit',
      challengeNonce,
      payer,
      permit: {
        value: amount as never,
        nonce: permitNonce as never,
        deadline: BigInt(deadline) as never,
        v: 27,
        r: word(permitNonce) as never,
        s: word(1n) as never,
      },
      burnAuthSig: `0x${word(7n).slice(2)}${word(1n).slice(2)}1b` as never,
    }
  }

  function send(from: Address, call: Call, txNonce = chain.pendingCount(chain.tip(), from), times = 1n) {
    const hash = chain.newId()
    chain.submit({
      hash,
      from,
      txNonce,
      maxFeePerGas: 100n * 10n ** 9n * times,
      tip: 10n ** 9n * times,
      call,
    })
    return { hash, txNonce }
  }

  const requestIn = ({ payer, challengeNonce, permit }: Payload.PermitPayload, { payTo }: Purchase) => ({
    r: permit.r,
    authorization: {
      payer,
      burnAddress: payTo,
      value: permit.value,
      challengeNonce,
      deadline: permit.deadline,
    },
  })

  /** Presents a payload until an answer ends it. */
  async function present(
    purchase: Purchase,
    payload: Payload.Payload,
    ticket: string,
    again?: () => Payload.Payload | undefined,
  ): Promise<string> {
    let current = payload
    for (let pauseMs = 500; ; pauseMs = Math.min(pauseMs * 2, 20_000)) {
      const reason = await settle(purchase, current, { ticket })
      const isTimely = timeline.now() / 1000 < purchase.expiresAt - 2
      const other = resigning.has(reason) && isTimely ? again?.() : undefined
      if (!other && !passing.has(reason)) return reason
      if (reason === 'burn_not_found' && timeline.now() / 1000 > purchase.expiresAt + 300) return reason
      if (other) current = other
      await clock.sleep(draws.between(pauseMs / 2, pauseMs))
    }
  }

  /** A stranger who reads the mempool presents the payload, without the ticket of the offer. */
  async function copyOnceSeen(purchase: Purchase, payload: Payload.PermitPayload): Promise<void> {
    const isShown = ({ call }: { call: Call }) =>
      call.kind === 'burns' &&
      call.requests.some(({ authorization }) => authorization.challengeNonce === purchase.nonce)
    for (let looks = 0; looks < 20; looks++) {
      await clock.sleep(draws.between(100, 2_000))
      if (chain.waiting().some(isShown)) return void settle(purchase, payload, {})
    }
  }

  async function payByPermit(purchase: Purchase, ticket: string, kind: Kind): Promise<string> {
    const payer = draws.oneOf(deps.payers)
    const payload = sign(purchase, payer)
    const stranger = `0x${draws.hex(20).slice(2)}` as Address
    const later = (act: () => unknown) => void clock.sleep(draws.between(0, 6_000)).then(act)
    if (kind === 'permit at two') later(() => present(purchase, payload, ticket))
    if (kind === 'permit copied') void copyOnceSeen(purchase, payload)
    if (kind === 'permit used')
      later(() => send(stranger, { kind: 'permit', request: requestIn(payload, purchase) }))
    if (kind === 'burn copied')
      later(() => send(stranger, { kind: 'burns', requests: [requestIn(payload, purchase)] }))
    if (kind === 'permit drained') {
      later(() => {
        const { balance } = chain.holderAt(chain.tip(), payer)
        send(payer, { kind: 'transfers', to: [{ to: token, value: balance / 2n }] })
      })
    }
    if (kind === 'permit left') {
      // Nobody asks again. What was claimed comes to its end all the same.
      await settle(purchase, payload, { ticket })
      return 'left'
    }
    const signed = [payload]
    const end = await present(purchase, payload, ticket, () => {
      const next = sign(purchase, payer)
      signed.push(next)
      return next
    })
    return resigning.has(end) ? comeBack(purchase, signed, ticket, end) : end
  }

  /** Somebody else may burn what was signed before the offer ends: a payer that was refused, and sees its money go, asks again. */
  async function comeBack(
    purchase: Purchase,
    signed: readonly Payload.PermitPayload[],
    ticket: string,
    end: string,
  ): Promise<string> {
    await clock.sleep(purchase.expiresAt * 1000 + 60_000 - timeline.now())
    if (chain.leavesAt(chain.tip(), purchase.payTo).length === 0) return end
    let last = end
    for (const payload of signed) {
      last = await present(purchase, payload, ticket)
      if (purchase.served.length > 0) break
    }
    return last
  }

  async function payByTransfer(purchase: Purchase, ticket: string, kind: Kind): Promise<string> {
    const payer = draws.oneOf(deps.payers)
    const { payTo, amount } = purchase
    if (kind === 'late') await clock.sleep(Math.max(0, purchase.expiresAt * 1000 - timeline.now()) + 3_000)
    const to = kind === 'split' ? [amount / 2n, amount - amount / 2n] : [amount]
    const call: Call = { kind: 'transfers', to: to.map((value) => ({ to: payTo, value })) }
    const sent = send(payer, call)
    if (kind === 'unpresented') return 'unpresented'
    if (kind !== 'transfer early') await clock.sleep(draws.between(0, 12_000))
    const isRaised = kind === 'transfer raised' && !chain.minedIn(chain.tip(), sent.hash)
    const hash = isRaised ? send(payer, call, sent.txNonce, 3n).hash : sent.hash
    return present(
      purchase,
      { kind: 'self-transfer', challengeNonce: purchase.nonce, burnTxHash: hash as never },
      ticket,
    )
  }

  return {
    /** Lets a payer come, buy and pay. */
    async visit(): Promise<void> {
      const kind = draws.oneOf(kinds.length > 0 ? kinds : permitKinds)
      const { offer, purchase } = await buy(BigInt(draws.between(1, 40) * 10), kind)
      const { ticket = '' } = offer
      await clock.sleep(draws.between(0, 8_000))
      const isPermit = kind.startsWith('permit') || kind === 'burn copied'
      if (kind === 'abandoned') purchase.end = 'abandoned'
      else purchase.end = await (isPermit ? payByPermit : payByTransfer)(purchase, ticket, kind)
      trace(`end ${purchase.nonce.slice(0, 10)} ${kind}: ${purchase.end}`)
    },
  }
}
