/**
 * Payments that ended, packed: there is one for every payment ever accepted, and as objects they would take four
 * times the memory. A record has a fixed size, so a payment is found by its number, and its number by its nonce.
 * What was minted for it is kept apart, because most of a long archive may never be.
 */
import type { Address, BaseUnits, ChallengeNonce, TxHash, UnixSeconds } from '@svc-zerc20/protocol'
import type { Burn, Challenge, Finalized } from '../payment/ports.js'

/** Accepted, and its grant used; its mint may still come. */
export type EndedPayment = {
  readonly challenge: Challenge
  /** Of the payload that paid: 16 bytes as hex. */
  readonly identity: string
  readonly burn: Burn
  readonly at: UnixSeconds
  readonly finalized?: Finalized
}

export type LedgerArchive = {
  /** False when a number does not fit into its field: the payment has to be kept as it is. */
  add(payment: EndedPayment): boolean
  find(nonce: ChallengeNonce): EndedPayment | undefined
  isAwaitingMint(nonce: ChallengeNonce): boolean
  /** Of a payment that is awaiting its mint. False when a number does not fit. */
  finalize(nonce: ChallengeNonce, finalized: Finalized): boolean
  /** Takes a payment out again: it did not end after all. */
  takeOut(nonce: ChallengeNonce): EndedPayment | undefined
  size(): number
  all(): Iterable<EndedPayment>
  /** Skips what is finalized without looking at it. */
  awaitingMint(): Iterable<EndedPayment>
}

const recordBytes = 256
const recordsPerSlab = 4096
const firstIndexSlots = 1024
const nonceBytes = 32

/** Amounts and block numbers far beyond anything a token or a chain has. */
const amountBytes = 16
const heightBytes = 6
const secondsBytes = 6

/** The last field of a record: the number of its mint, counted from 1, or one of these. */
const mintOffset = recordBytes - 4
const noMint = 0
const takenOut = 0xffff_ffff

const mintBytes = 60
const noHash: TxHash = `0x${'00'.repeat(32)}` as TxHash

export function createLedgerArchive(): LedgerArchive {
  const records = createSlabs(recordBytes)
  const mints = createSlabs(mintBytes)
  const treasuries = createInterned()
  /** For each slab of records, how many of them await their mint. */
  const awaiting: number[] = []
  let taken = 0
  /** Open addressing by bytes of the nonce, which are random; holds record numbers from 1 on. */
  let index = new Int32Array(firstIndexSlots)

  /** Where the nonce is in the index, or the free place where it belongs. */
  function slotOf(nonce: Buffer): number {
    const mask = index.length - 1
    const first = nonce.readUInt32BE(0) ^ nonce.readUInt32BE(nonceBytes - 4)
    for (let slot = first & mask; ; slot = (slot + 1) & mask) {
      const number = index[slot] ?? 0
      if (number === 0 || records.at(number - 1).compare(nonce, 0, nonceBytes, 0, nonceBytes) === 0)
        return slot
    }
  }

  function growIndex(): void {
    index = new Int32Array(index.length * 2)
    for (let number = 0; number < records.count(); number++) index[slotOf(records.at(number))] = number + 1
  }

  /** Undefined also for a payment that was taken out. */
  function numberOf(nonce: ChallengeNonce): number | undefined {
    const number = (index[slotOf(Buffer.from(nonce.slice(2), 'hex'))] ?? 0) - 1
    return number === -1 || mintOf(number) === takenOut ? undefined : number
  }

  const mintOf = (number: number) => records.at(number).readUInt32BE(mintOffset)

  function setMint(number: number, mint: number): void {
    const slab = Math.floor(number / recordsPerSlab)
    const before = mintOf(number) === noMint ? 1 : 0
    awaiting[slab] = (awaiting[slab] ?? 0) + (mint === noMint ? 1 : 0) - before
    records.at(number).writeUInt32BE(mint, mintOffset)
  }

  function read(number: number): EndedPayment {
    const mint = mintOf(number)
    return {
      ...unpack(records.at(number), treasuries.at),
      ...(mint !== noMint && { finalized: unpackFinalized(mints.at(mint - 1)) }),
    }
  }

  return {
    add(payment) {
      const { finalized } = payment
      const record = Buffer.alloc(recordBytes)
      const mint = Buffer.alloc(mintBytes)
      if (!pack(record, payment, treasuries.numberOf(payment.challenge.treasury))) return false
      if (finalized && !packFinalized(mint, finalized)) return false
      if ((records.count() + 1) * 2 > index.length) growIndex()
      const slot = slotOf(record)
      const known = (index[slot] ?? 0) - 1
      if (known !== -1 && mintOf(known) !== takenOut) return true
      // Not awaiting until its mint is set below, wherever it goes.
      record.writeUInt32BE(takenOut, mintOffset)
      if (known === -1) index[slot] = records.push(record)
      else {
        record.copy(records.at(known))
        taken -= 1
      }
      setMint((index[slot] ?? 0) - 1, finalized ? mints.push(mint) : noMint)
      return true
    },

    find(nonce) {
      const number = numberOf(nonce)
      return number === undefined ? undefined : read(number)
    },

    isAwaitingMint(nonce) {
      const number = numberOf(nonce)
      return number !== undefined && mintOf(number) === noMint
    },

    finalize(nonce, finalized) {
      const number = numberOf(nonce)
      const mint = Buffer.alloc(mintBytes)
      if (number === undefined || !packFinalized(mint, finalized)) return false
      setMint(number, mints.push(mint))
      return true
    },

    takeOut(nonce) {
      const number = numberOf(nonce)
      if (number === undefined) return undefined
      const payment = read(number)
      setMint(number, takenOut)
      taken += 1
      return payment
    },

    size: () => records.count() - taken,

    *all() {
      for (let number = 0; number < records.count(); number++) {
        if (mintOf(number) !== takenOut) yield read(number)
      }
    },

    *awaitingMint() {
      for (let number = 0; number < records.count(); number++) {
        const slab = Math.floor(number / recordsPerSlab)
        if (awaiting[slab] === 0) number = (slab + 1) * recordsPerSlab - 1
        else if (mintOf(number) === noMint) yield read(number)
      }
    },
  }
}

/** Records of one size, in blocks that are never moved. */
function createSlabs(bytes: number) {
  const slabs: Buffer[] = []
  let count = 0
  const at = (number: number): Buffer => {
    const slab = slabs[Math.floor(number / recordsPerSlab)]
    const start = (number % recordsPerSlab) * bytes
    return slab?.subarray(start, start + bytes) ?? Buffer.alloc(bytes)
  }
  return {
    at,
    count: () => count,
    /** Says how many there are now: one more than the number of this one. */
    push(record: Buffer): number {
      if (count % recordsPerSlab === 0) slabs.push(Buffer.alloc(recordsPerSlab * bytes))
      record.copy(at(count))
      count += 1
      return count
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

function createWriter(record: Buffer) {
  let offset = 0
  let fits = true
  const hex = (digits: string, bytes: number) => {
    fits &&= digits.length === bytes * 2
    offset += fits ? record.write(digits, offset, bytes, 'hex') : bytes
  }
  return {
    hex,
    number: (value: number | bigint, bytes: number) =>
      hex(value.toString(16).padStart(bytes * 2, '0'), bytes),
    fits: () => fits,
  }
}

function createReader(record: Buffer) {
  let offset = 0
  const hex = (bytes: number) => {
    offset += bytes
    return record.toString('hex', offset - bytes, offset)
  }
  const number = (bytes: number) => Number.parseInt(hex(bytes), 16)
  return {
    hex,
    number,
    amount: () => BigInt(`0x${hex(amountBytes)}`) as BaseUnits,
    height: () => BigInt(number(heightBytes)),
    seconds: () => number(secondsBytes) as UnixSeconds,
  }
}

function packFinalized(record: Buffer, { mint, at }: Finalized): boolean {
  const { hex, number, fits } = createWriter(record)
  // No transaction hashes to 0, and blocks are stored one higher, so that 0 says there is none.
  hex((mint.txHash ?? noHash).slice(2), 32)
  number(mint.blockNumber === undefined ? 0 : mint.blockNumber + 1n, heightBytes)
  number(mint.value, amountBytes)
  number(at, secondsBytes)
  return fits()
}

function unpackFinalized(record: Buffer): Finalized {
  const { hex, height, amount, seconds } = createReader(record)
  const txHash = `0x${hex(32)}` as TxHash
  const block = height()
  const mint = {
    ...(txHash !== noHash && { txHash }),
    ...(block > 0n && { blockNumber: block - 1n }),
    value: amount(),
  }
  return { mint, at: seconds() }
}

function pack(record: Buffer, { challenge, identity, burn, at }: EndedPayment, treasury: number): boolean {
  const { hex, number, fits } = createWriter(record)
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
  return fits()
}

function unpack(record: Buffer, treasuryAt: (number: number) => Address): EndedPayment {
  const { hex, number, amount, height, seconds } = createReader(record)
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
