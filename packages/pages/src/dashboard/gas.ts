/** How long the gas of an account lasts at the pace of the last 24 hours. */
import { inEther, span } from '../format.js'
import type { Status } from './api.js'

export type GasLeft = {
  readonly name: string
  readonly address: string
  readonly balance: bigint | undefined
  /** Wei of a day at this pace. */
  readonly perDay: bigint
  /** Undefined when nothing was spent, or the balance is unknown. */
  readonly days: number | undefined
  /** Another daemon that sends from it, and alone knows the pace. */
  readonly sender: string | undefined
}

const daySeconds = 86_400
/** A pace that was measured for less than this says little. */
const measuredSecondsMin = 3_600

export function gasLeft(status: Status): GasLeft[] {
  const { relayer, minter, startedAt, now, daemons = [], leases = [] } = status
  const others = daemons.filter(({ here }) => !here).map(({ name }) => name)
  const measured = BigInt(Math.min(daySeconds, Math.max(measuredSecondsMin, now - startedAt)))
  const accounts: [string, Status['minter']][] = [
    [minter ? 'relayer' : 'relayer, which also mints,', relayer],
    ['minter', minter],
  ]
  return accounts.flatMap(([name, account]) => {
    if (!account) return []
    const balance = account.balance === undefined ? undefined : BigInt(account.balance)
    const perDay = (BigInt(account.dayWei ?? '0') * BigInt(daySeconds)) / measured
    const lease = leases.find((each) => each.name === `send ${account.address.toLowerCase()}`)
    const sender = others.find((other) => other === lease?.holder)
    const isKnown = balance !== undefined && perDay > 0n && sender === undefined
    const days = isKnown ? Number((balance * 100n) / perDay) / 100 : undefined
    return { name, address: account.address, balance, perDay, days, sender }
  })
}

const daysMax = 3_650

export const daysText = ({ days }: GasLeft): string =>
  days === undefined
    ? '–'
    : days > daysMax
      ? '10+ years'
      : days < 2
        ? span(days * daySeconds)
        : `${Math.floor(days)} days`

export const paceText = ({ balance, perDay, sender }: GasLeft): string =>
  balance === undefined
    ? 'the chain is out of reach'
    : sender !== undefined
      ? `${inEther(balance)}; the pace is known to ${sender}, which sends`
      : perDay === 0n
        ? `${inEther(balance)}, nothing spent in 24 hours`
        : `${inEther(balance)} at ${inEther(perDay)} a day`
