/**
 * One process at a time signs transactions of an account, and sees which ones others have signed. Two transactions
 * with the same txNonce would stand in each other's way for ever.
 */
import { randomUUID } from 'node:crypto'
import {
  type Clock,
  createSerial,
  type Hex,
  Json,
  parseHex,
  parseTxHash,
  type TxHash,
} from '@svc-zerc20/protocol'
import type { PayerLimits } from '../limits.js'
import { PayerError } from '../payer-error.js'
import { type Holder, holderNow, isGone } from './holder.js'
import type { Cell } from './versioned-file.js'

export type SignedTransaction = {
  readonly txNonce: number
  readonly hash: TxHash
  readonly raw: Hex
  /** The second after which it buys nothing any more. */
  readonly expiresAt: number
}

export type AccountState = {
  /** The process whose turn it is. */
  readonly holder?: Holder | undefined
  /** Transactions that may not be mined yet, in the order in which they were signed. */
  readonly signed: readonly SignedTransaction[]
}

export type AccountQueue = {
  /**
   * Waits for the turn, then runs `work` with the transactions that may not be mined yet. `keep` replaces them; what it
   * was given stays when `work` fails.
   */
  take<T>(work: (signed: AccountState['signed'], keep: Keep) => Promise<T>): Promise<T>
}

export type Keep = (signed: AccountState['signed']) => Promise<void>

const pollMs = 50

export function createAccountQueue({
  cell,
  clock,
  limits,
}: {
  readonly cell: Cell<AccountState>
  readonly clock: Clock
  readonly limits: Pick<PayerLimits, 'queueWaitMsMax'>
}): AccountQueue {
  const id = randomUUID()
  const serial = createSerial()

  async function begin(): Promise<AccountState['signed']> {
    const untilMs = clock.now() + limits.queueWaitMsMax
    for (;;) {
      const { holder, signed } = await cell.update((before = { signed: [] }) => {
        const isFree = !before.holder || before.holder.id === id || isGone(before.holder, clock)
        return isFree ? { ...before, holder: holderNow(id, clock) } : before
      })
      if (holder?.id === id) return signed
      if (clock.now() >= untilMs) {
        throw new PayerError('account_busy', `process ${holder?.pid} has been signing for the account`)
      }
      await clock.sleep(pollMs)
    }
  }

  /** Ends the turn. A process that slept through its turn changes nothing of the next one. */
  const end = () =>
    cell.update((before = { signed: [] }) =>
      before.holder?.id === id ? { ...before, holder: undefined } : before,
    )

  return {
    take: (work) =>
      serial(async () => {
        const signed = await begin()
        try {
          return await work(signed, async (next) => {
            await cell.update((before = { signed: [] }) => ({ ...before, signed: next }))
          })
        } finally {
          // A folder that fails by now must cost neither a result nor an error: this process is the holder until it ends.
          await end().catch(() => undefined)
        }
      }),
  }
}

/** Reads the state that a cell kept. */
export function parseAccountState(raw: unknown): AccountState | undefined {
  if (!Json.isObject(raw) || !Array.isArray(raw.signed)) return undefined
  return raw.signed.every(isSigned) ? (raw as AccountState) : undefined
}

const isSigned = (value: unknown) =>
  Json.isObject(value) &&
  Number.isSafeInteger(value.txNonce) &&
  Number.isSafeInteger(value.expiresAt) &&
  parseTxHash(value.hash) !== undefined &&
  parseHex(value.raw) !== undefined
