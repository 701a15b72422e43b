/**
 * Ended payments as packed records, by number. A mint has a record of its own, because most payments of a long archive
 * may never be minted. A payment that is taken out keeps its number, and gets it again when it comes back.
 */
import type { ChallengeNonce } from '@svc-zerc20/protocol'
import type { AddressEpoch, Challenge, Finalized } from '../../payment/records.js'
import { createNonceIndex } from './nonce-index.js'
import {
  type EndedPayment,
  endedBytes,
  finalizedBytes,
  hasFeeIn,
  mintOffset,
  nonceBytes,
  packEnded,
  packFinalized,
  type SharedTerms,
  termsIn,
  unpackEnded,
  unpackFinalized,
} from './packing.js'
import { createSlabs, type Slabs } from './slabs.js'

/** The last field of a record is the number of its mint, counted from 1, or this. */
const noMint = 0
/** The highest bit of that field: a sweep took the fee. */
const sweptBit = 2 ** 31

export type EndedTable = {
  /** Numbers that were given, those of payments that were taken out included. */
  count(): number
  /** Payments in the table. */
  size(): number
  readonly place: Slabs['place']
  /** Undefined also for a payment that was taken out. */
  numberOf(nonce: ChallengeNonce): number | undefined
  isTakenOut(number: number): boolean
  isAwaiting(number: number): boolean
  /** Whether the payment is minted, and has a fee that a sweep has yet to take. */
  isFeeOpen(number: number): boolean
  /** Unpacks nothing else. */
  epochOf(number: number): AddressEpoch | undefined
  read(number: number): EndedPayment
  readWithoutMint(number: number): Omit<EndedPayment, 'finalized'>
  /**
   * Adds a payment and returns its number. `known` when the payment is in the table, `misfit` when a value does not fit
   * into its field. `onReuse` is called before the record of a payment that was taken out is overwritten.
   */
  add(payment: EndedPayment, onReuse: (number: number) => void): number | 'known' | 'misfit'
  /** False when a value does not fit into its field. */
  setMint(number: number, finalized: Finalized): boolean
  markSwept(number: number): void
  takeOut(number: number): void
}

export function createEndedTable(): EndedTable {
  const records = createSlabs(endedBytes)
  const mints = createSlabs(finalizedBytes)
  const index = createNonceIndex(records)
  const terms = createTerms()
  const takenOut = new Set<number>()
  const record = Buffer.alloc(endedBytes)
  const mintRecord = Buffer.alloc(finalizedBytes)

  function lastFieldOf(number: number): number {
    const { slab, offset } = records.place(number)
    return slab.readUInt32BE(offset + mintOffset)
  }
  const mintOf = (number: number) => lastFieldOf(number) % sweptBit
  const isSwept = (number: number) => lastFieldOf(number) >= sweptBit

  function isFeeOpen(number: number): boolean {
    if (takenOut.has(number) || mintOf(number) === noMint || isSwept(number)) return false
    const { slab, offset } = records.place(number)
    const shared = terms.at(termsIn(slab, offset))
    return shared.fee?.recipient !== undefined && hasFeeIn(slab, offset, shared)
  }

  function readWithoutMint(number: number): Omit<EndedPayment, 'finalized'> {
    const { slab, offset } = records.place(number)
    return unpackEnded(slab, offset, terms.at)
  }

  /** The record in `record`, at the end or over the one that was taken out. */
  function enter(known: number | undefined): number {
    if (known === undefined) {
      const number = records.push(record)
      index.add(number)
      return number
    }
    records.overwrite(known, record)
    takenOut.delete(known)
    return known
  }

  return {
    count: records.count,
    size: () => records.count() - takenOut.size,
    place: records.place,
    numberOf(nonce) {
      record.write(nonce.slice(2), 0, nonceBytes, 'hex')
      const number = index.find(record)
      return number === undefined || takenOut.has(number) ? undefined : number
    },
    isTakenOut: (number) => takenOut.has(number),
    isAwaiting: (number) => !takenOut.has(number) && mintOf(number) === noMint,
    isFeeOpen,
    epochOf(number) {
      const { slab, offset } = records.place(number)
      return terms.at(termsIn(slab, offset)).epoch
    },
    readWithoutMint,
    read(number) {
      const mint = mintOf(number)
      const ended = readWithoutMint(number)
      if (mint === noMint) return ended
      const { slab, offset } = mints.place(mint - 1)
      const finalized = unpackFinalized(slab, offset)
      return { ...ended, finalized, ...(isSwept(number) && { swept: true }) }
    },
    add(payment, onReuse) {
      const { challenge, finalized, swept } = payment
      if (!packEnded(record, payment, terms.numberOf(challenge))) return 'misfit'
      if (finalized && !packFinalized(mintRecord, finalized)) return 'misfit'
      const known = index.find(record)
      if (known !== undefined && !takenOut.has(known)) return 'known'
      if (known !== undefined) onReuse(known)
      const mint = finalized ? mints.push(mintRecord) + 1 : noMint
      record.writeUInt32BE(finalized && swept ? mint + sweptBit : mint, mintOffset)
      return enter(known)
    },
    setMint(number, finalized) {
      if (!packFinalized(mintRecord, finalized)) return false
      const { slab, offset } = records.place(number)
      slab.writeUInt32BE(mints.push(mintRecord) + 1, offset + mintOffset)
      return true
    },
    markSwept(number) {
      if (isSwept(number)) return
      const { slab, offset } = records.place(number)
      slab.writeUInt32BE(mintOf(number) + sweptBit, offset + mintOffset)
    },
    takeOut: (number) => void takenOut.add(number),
  }
}

/** Terms are kept once: there are as many as there were configurations and epochs. */
function createTerms() {
  const known: SharedTerms[] = []
  const numbers = new Map<string, number>()
  return {
    numberOf({ treasury, fee, epoch }: Challenge): number {
      const key = `${treasury} ${epoch ? `${epoch.ledger} ${epoch.start}` : ''} ${fee ? `${fee.bps} ${fee.chargeTo} ${fee.recipient ?? ''}` : ''}`
      const number = numbers.get(key)
      if (number !== undefined) return number
      numbers.set(key, known.length)
      const terms = { treasury, ...(epoch && { epoch }) }
      if (fee === undefined) return known.push(terms) - 1
      const { amount: _, ...shared } = fee
      return known.push({ ...terms, fee: shared }) - 1
    },
    at: (number: number) => known[number] as SharedTerms,
  }
}
