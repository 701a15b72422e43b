/** How long the gas of an account lasts at the pace since the daemon started. */
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
}

const daySeconds = 86_400
/** A pace that was measured for less than this says little. */
const measuredSecondsMin = 3_600

export function gasLeft({ relayer, minter, startedAt, now }: Status): GasLeft[] {
  const measured = BigInt(Math.max(measuredSecondsMin, now - startedAt))
  const [burns, mints] = [BigInt(relayer.spent.burn.wei), BigInt(relayer.spent.mint.wei)]
  const accounts = minter
    ? [
        { name: 'relayer', ...relayer, wei: burns },
        { name: 'minter', ...minter, wei: mints },
      ]
    : [{ name: 'relayer, which also mints,', ...relayer, wei: burns + mints }]
  return accounts.map(({ name, address, wei, ...account }) => {
    const balance = account.balance === undefined ? undefined : BigInt(account.balance)
    const perDay = (wei * BigInt(daySeconds)) / measured
    const days = balance !== undefined && perDay > 0n ? Number((balance * 100n) / perDay) / 100 : undefined
    return { name, address, balance, perDay, days }
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

export const paceText = ({ balance, perDay }: GasLeft): string =>
  balance === undefined
    ? 'the chain is out of reach'
    : perDay === 0n
      ? `${inEther(balance)}, nothing spent since the start`
      : `${inEther(balance)} at ${inEther(perDay)} a day`
