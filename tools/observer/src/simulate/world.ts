/**
 * A simulated token: payers burn, provers prove roots, facilitators mint. `view` is what a chain would show of it.
 * `truth` is what only the facilitators know, and is for scoring alone.
 */
import type { ChainView, Mint, Root, Transfer } from '../chain-view.js'
import type { Facilitator } from './facilitator.js'
import { type Random, seededRandom } from './random.js'

export type Traffic = {
  readonly payments: number
  /** Price points in base units, each as popular as the others. */
  readonly prices: readonly [bigint, ...bigint[]]
  /** Payments a minute, of all facilitators together. */
  readonly perMinute: number
  /** Facilitators on the token, each with a treasury of its own and equally popular. */
  readonly facilitators: number
  /** Share of payers that send their burn themselves. */
  readonly selfTransfers: number
  /** Whether mints are sent from a key of their own. */
  readonly ownMinterKey: boolean
  /** So many accounts come back, each to its own provider. Without it every payment has an account of its own. */
  readonly accounts?: number
  /** Somebody surrounds one payment of the first provider with payments of its own to that provider. */
  readonly surround?: {
    /** Payments before the other one, and as many after it. */
    readonly each: number
    readonly accounts: number
    readonly value: bigint
  }
}

export type World = {
  readonly view: ChainView
  /** Leaf of a mint → leaves of the burns that it paid. */
  readonly truth: ReadonlyMap<number, readonly number[]>
}

const blockSeconds = 2
/** A root takes its transfers when the last one is proved, and is on the chain so many seconds later. */
const rootSeconds = 12
/** The payer of an offer burns after a random time up to this. */
const payWithinSeconds = 30
const nobody = `0x${'0'.repeat(40)}`

type Payment = {
  /** When the offer was made. */
  readonly offeredAt: number
  readonly burnedAt: number
  readonly facilitator: number
  readonly from: string
  readonly value: bigint
  readonly isSelfTransfer: boolean
}

function drawPayments(traffic: Traffic, random: Random): Payment[] {
  let now = 0
  return Array.from({ length: traffic.payments }, (_, number) => {
    now += random.wait(traffic.perMinute / 60)
    const burnedAt = now + random.fraction() * payWithinSeconds
    const drawn = random.fraction()
    const payer = traffic.accounts === undefined ? number : Math.floor(drawn * traffic.accounts)
    return {
      offeredAt: now,
      burnedAt,
      facilitator:
        traffic.accounts === undefined
          ? Math.floor(drawn * traffic.facilitators)
          : payer % traffic.facilitators,
      from: account('payer', payer),
      value: random.pick(traffic.prices),
      isSelfTransfer: random.fraction() < traffic.selfTransfers,
    }
  }).toSorted((one, other) => one.burnedAt - other.burnedAt)
}

/** The payments with those of somebody who surrounds one in their middle. */
function surrounded(payments: readonly Payment[], { surround }: Traffic): readonly Payment[] {
  const isVictim = ({ facilitator }: Payment, i: number) => facilitator === 0 && i >= payments.length / 2
  const at = payments.findIndex(isVictim)
  const victim = payments[at]
  if (surround === undefined || victim === undefined) return payments
  const { each, accounts, value } = surround
  const own = Array.from({ length: 2 * each }, (_, i) => ({
    ...victim,
    from: account(surrounder, i % accounts),
    value,
    isSelfTransfer: true,
  }))
  return [
    ...payments.slice(0, at),
    ...own.slice(0, each),
    victim,
    ...own.slice(each),
    ...payments.slice(at + 1),
  ]
}

const surrounder = 'surrounds'
export const isSurrounder = (from: string): boolean =>
  from.startsWith(account(surrounder, 0).slice(0, 2 + 2 * surrounder.length))

const account = (name: string, number: number): string =>
  `0x${Buffer.from(`${name}${number}`).toString('hex').padEnd(40, '0')}`

/** Lets blocks pass until every payment is minted. */
export function simulate(
  traffic: Traffic,
  createFacilitator: (random: Random) => Facilitator,
  seed: string,
): World {
  // Payments have chance of their own, so that every mode of minting meets the same payments.
  const payments = surrounded(drawPayments(traffic, seededRandom(`${seed}/payments`)), traffic)
  const random = seededRandom(`${seed}/facilitators`)
  const facilitators = Array.from({ length: traffic.facilitators }, () => createFacilitator(random))
  const chain = createChain()
  let burned = 0
  let minted = 0
  for (let now = 0; minted < payments.length; now += blockSeconds) {
    for (; (payments[burned]?.burnedAt ?? Number.POSITIVE_INFINITY) <= now; burned++) {
      const payment = payments[burned] as Payment
      const { from } = payment
      const relayer = account('relayer', payment.facilitator)
      const leaf = chain.transfer({
        from,
        to: account('burn', burned),
        value: payment.value,
        time: now,
        sender: payment.isSelfTransfer ? from : relayer,
      })
      facilitators[payment.facilitator]?.accept({
        leaf,
        from,
        value: payment.value,
        offeredAt: payment.offeredAt,
        now,
      })
    }
    chain.proveRoots(now)
    for (const [number, facilitator] of facilitators.entries()) {
      const sender = account(traffic.ownMinterKey ? 'minter' : 'relayer', number)
      for (const { burns, ...mint } of facilitator.mint(now, chain.latestRoot())) {
        chain.mint({ ...mint, to: account('treasury', number), time: now, sender }, burns)
        minted += burns.length
      }
    }
  }
  return chain
}

function createChain() {
  const transfers: Transfer[] = []
  const mints: Mint[] = []
  const roots: Root[] = []
  const truth = new Map<number, readonly number[]>()
  /** The root under way: its leaves, and when it is on the chain. */
  let proving: Root | undefined
  const latestRoot = (): number => roots.at(-1)?.size ?? 0
  function transfer(fields: Omit<Transfer, 'leaf'>): number {
    transfers.push({ leaf: transfers.length, ...fields })
    return transfers.length - 1
  }
  return {
    view: { transfers, mints, roots },
    truth,
    latestRoot,
    transfer,
    proveRoots(now: number) {
      if (proving !== undefined && proving.time <= now) {
        roots.push({ ...proving, time: now })
        proving = undefined
      }
      if (proving === undefined && transfers.length > latestRoot()) {
        proving = { size: transfers.length, time: now + rootSeconds }
      }
    },
    mint(mint: Omit<Mint, 'leaf'>, burns: readonly number[]) {
      const { to, value, time, sender } = mint
      const leaf = transfer({ from: nobody, to, value, time, sender })
      mints.push({ leaf, ...mint })
      truth.set(leaf, burns)
    },
  }
}
