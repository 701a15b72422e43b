/**
 * Payments that ended, packed: there is one for every payment ever accepted, and as objects they would take four
 * times the memory. A record has a fixed size, so a payment is found by its number, and its number by its nonce.
 */
import type { Address, BaseUnits, ChallengeNonce, TxHash, UnixSeconds } from '@svc-zerc20/protocol'
import type { Burn, Challenge } from '../payment/ports.js'

/** Accepted, and its grant used. */
export type EndedPayment = {
  readonly challenge: Challenge
  /** Of the payload that paid: 16 bytes as hex. */
  readonly identity: string
  readonly burn: Burn
  readonly at: UnixSeconds
}

export type LedgerArchive = {
  /** False when a number does not fit into its field: the payment has to be kept as it is. */
  add(payment: EndedPayment): boolean
  find(nonce: ChallengeNonce): EndedPayment | undefined
  size(): number
  all(): Iterable<EndedPayment>
}

const recordBytes = 256
const recordsPerSlab = 4096
const firstIndexSlots = 1024
const nonceBytes = 32

/** Amounts and block numbers far beyond anything a token or a chain has. */
const amountBytes = 16
const heightBytes = 6
const secondsBytes = 6

export function createLedgerArchive(): LedgerArchive {
  const slabs: Buffer[] = []
  const treasuries = createInterned()
  let count = 0
  /** Open addressing by bytes of the nonce, which are random; holds record numbers from 1 on. */
  let index = new Int32Array(firstIndexSlots)

  const recordAt = (number: number): Buffer => {
    const slab = slabs[Math.floor(number / recordsPerSlab)]
    const start = (number % recordsPerSlab) * recordBytes
    return slab?.subarray(start, start + recordBytes) ?? Buffer.alloc(recordBytes)
  }

  /** Where the nonce is in the index, or the free place where it belongs. */
  function slotOf(nonce: Buffer): number {
    const mask = index.length - 1
    const first = nonce.readUInt32BE(0) ^ nonce.readUInt32BE(nonceBytes - 4)
    for (let slot = first & mask; ; slot = (slot + 1) & mask) {
      const number = index[slot] ?? 0
      if (number === 0 || recordAt(number - 1).compare(nonce, 0, nonceBytes, 0, nonceBytes) === 0) return slot
    }
  }

  function growIndex(): void {
    index = new Int32Array(index.length * 2)
    for (let number = 0; number < count; number++) index[slotOf(recordAt(number))] = number + 1
  }

  return {
    add(payment) {
      const record = Buffer.alloc(recordBytes)
      if (!pack(record, payment, treasuries.numberOf(payment.challenge.treasury))) return false
      if ((count + 1) * 2 > index.length) growIndex()
      const slot = slotOf(record)
      if (index[slot] !== 0) return true
      if (count % recordsPerSlab === 0) slabs.push(Buffer.alloc(recordsPerSlab * recordBytes))
      record.copy(recordAt(count))
      count += 1
      index[slot] = count
      return true
    },

    find(nonce) {
      const number = index[slotOf(Buffer.from(nonce.slice(2), 'hex'))] ?? 0
      return number === 0 ? undefined : unpack(recordAt(number - 1), treasuries.at)
    },

    size: () => count,

    *all() {
      for (let number = 0; number < count; number++) yield unpack(recordAt(number), treasuries.at)
    },
  }
}

/** There are as many treasuries as there were configurations: each is kept once. */
function createInterned() {
  const texts: Address[] = []
  return {
    numberOf(text: Address): number {
      const known = texts.indexOf(text)
      return known === -1 ? texts.push(text) - 1 : known
    },
    at: (number: number) => texts[number] as Address,
  }
}

function pack(record: Buffer, { challenge, identity, burn, at }: EndedPayment, treasury: number): boolean {
  let offset = 0
  let fits = true
  const hex = (digits: string, bytes: number) => {
    fits &&= digits.length === bytes * 2
    offset += fits ? record.write(digits, offset, bytes, 'hex') : bytes
  }
  const number = (value: number | bigint, bytes: number) =>
    hex(value.toString(16).padStart(bytes * 2, '0'), bytes)
  hex(challenge.nonce.slice(2), nonceBytes)
  hex(challenge.payTo.slice(2), 20)
  number(challenge.amount, amountBytes)
  number(challenge.listPrice, amountBytes)
  number(challenge.issuedAt, secondsBytes)
  number(challenge.expiresAt, secondsBytes)
  number(challenge.deadline === undefined ? 0 : challenge.deadline + 1, secondsBytes)
  number(challenge.powNonce, 8)
  number(treasury, 2)
  number(challenge.issuedAtBlock, heightBytes)
  hex(identity, 16)
  hex(burn.txHash.slice(2), 32)
  number(burn.blockNumber, heightBytes)
  hex(burn.blockHash.slice(2), 32)
  number(burn.leafIndex, heightBytes)
  hex(burn.from.slice(2), 20)
  number(burn.value, amountBytes)
  number(at, secondsBytes)
  return fits
}

function unpack(record: Buffer, treasuryAt: (number: number) => Address): EndedPayment {
  let offset = 0
  const hex = (bytes: number) => {
    offset += bytes
    return record.toString('hex', offset - bytes, offset)
  }
  const number = (bytes: number) => Number.parseInt(hex(bytes), 16)
  const amount = () => BigInt(`0x${hex(amountBytes)}`) as BaseUnits
  const height = () => BigInt(number(heightBytes))
  const seconds = () => number(secondsBytes) as UnixSeconds
  const nonce = `0x${hex(nonceBytes)}` as ChallengeNonce
  const challenge = {
    nonce,
    payTo: `0x${hex(20)}` as Address,
    amount: amount(),
    listPrice: amount(),
    issuedAt: seconds(),
    expiresAt: seconds(),
    ...deadlineIn(seconds()),
    powNonce: number(8),
    treasury: treasuryAt(number(2)),
    issuedAtBlock: height(),
  }
  const identity = hex(16)
  const burn = {
    txHash: `0x${hex(32)}` as TxHash,
    blockNumber: height(),
    blockHash: `0x${hex(32)}`,
    leafIndex: height(),
    from: `0x${hex(20)}` as Address,
    value: amount(),
  }
  return { challenge, identity, burn, at: seconds() }
}

/** Stored one higher, so that 0 says there is none. */
const deadlineIn = (stored: number) => (stored === 0 ? {} : { deadline: (stored - 1) as UnixSeconds })
