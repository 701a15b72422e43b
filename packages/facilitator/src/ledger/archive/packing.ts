/** Packs an ended payment into bytes: all hex values first and in one piece, then the numbers. */
import type { Address, BaseUnits, ChallengeNonce, TxHash, UnixSeconds } from '@svc-zerc20/protocol'
import type { Burn, Challenge, Fee, Finalized } from '../../payment/records.js'

/** A payment that is accepted and whose grant is used. Its mint may still come. */
export type EndedPayment = {
  readonly challenge: Challenge
  /** The identity of the payload that paid: 16 bytes as hex. */
  readonly identity: string
  readonly burn: Burn
  readonly at: UnixSeconds
  readonly finalized?: Finalized
  /** A sweep took its fee. */
  readonly swept?: true
}

/** The terms that challenges of one configuration and one epoch share. A record holds their number. */
export type SharedTerms = Pick<Challenge, 'treasury' | 'epoch'> & { readonly fee?: Omit<Fee, 'amount'> }

export const nonceBytes = 32
const addressBytes = 20
const hashBytes = 32
const identityBytes = 16
/** Nonce, payTo, identity, transaction, block, payer. */
const hexBytes = nonceBytes + addressBytes + identityBytes + hashBytes + hashBytes + addressBytes

/** These sizes take amounts, times and block numbers far beyond those of any token or chain. */
const amountBytes = 16
const smallBytes = 6
const smallLimit = 2 ** (8 * smallBytes)
const wordBits = 64n
const wordLimit = 1n << wordBits
const halfLimit = 2 ** 32
const shortLimit = 2 ** 16

/** The time of issue is the first number behind three amounts. */
const issuedAtOffset = hexBytes + 3 * amountBytes

/** Reads the time of issue, and unpacks nothing else. */
export const issuedAtIn = (slab: Buffer, offset: number): number =>
  slab.readUIntBE(offset + issuedAtOffset, smallBytes)

/** The last four bytes hold the number of the mint's own record, and whether the fee was swept. */
export const mintOffset = 252
const shortBytes = 2
const termsOffset = mintOffset - shortBytes
export const endedBytes = mintOffset + 4
export const finalizedBytes = hashBytes + amountBytes + smallBytes + smallBytes
const noHash = `0x${'00'.repeat(hashBytes)}`

/** False when a value does not fit into its field. */
export function packEnded(record: Buffer, payment: EndedPayment, terms: number): boolean {
  const { challenge, identity, burn, at } = payment
  const place = `${challenge.nonce.slice(2)}${challenge.payTo.slice(2)}${identity}`
  const hex = `${place}${burn.txHash.slice(2)}${burn.blockHash.slice(2)}${burn.from.slice(2)}`
  if (hex.length !== hexBytes * 2) return false
  record.write(hex, 0, hexBytes, 'hex')
  const writer = createWriter(record, hexBytes)
  writer.amount(challenge.amount)
  writer.amount(secondAmountOf(challenge))
  writer.amount(burn.value)
  writer.small(challenge.issuedAt)
  writer.small(challenge.expiresAt)
  writer.small(oneHigher(challenge.deadline))
  writer.small(at)
  writer.small(Number(challenge.issuedAtBlock))
  writer.small(Number(burn.blockNumber))
  writer.small(Number(burn.leafIndex))
  writer.safe(challenge.powNonce)
  writer.short(terms)
  return writer.fits() && isWhole(challenge)
}

/**
 * The amount of a challenge and one more number give its list price and its fee. A fee that the provider bears is part of
 * the list price, which is the amount. In all other challenges the fee is the difference of the two.
 */
const secondAmountOf = ({ listPrice, fee }: Challenge): BaseUnits =>
  fee?.chargeTo === 'provider' ? fee.amount : listPrice

/** Whether list price and fee make up the amount, as they do in every quote. */
const isWhole = ({ amount, listPrice, fee }: Challenge): boolean =>
  fee === undefined || amount === (fee.chargeTo === 'payer' ? listPrice + fee.amount : listPrice)

function readPrices(
  amount: BaseUnits,
  second: BaseUnits,
  fee: SharedTerms['fee'],
): Pick<Challenge, 'amount' | 'listPrice' | 'fee'> {
  if (fee === undefined) return { amount, listPrice: second }
  if (fee.chargeTo === 'provider') return { amount, listPrice: amount, fee: { amount: second, ...fee } }
  return { amount, listPrice: second, fee: { amount: (amount - second) as BaseUnits, ...fee } }
}

/** Reads the number of the terms, and unpacks nothing else. */
export const termsIn = (slab: Buffer, offset: number): number => slab.readUInt16BE(offset + termsOffset)

/** Whether a payment with these terms has a fee above 0. Reads the two amounts, and unpacks nothing else. */
export function hasFeeIn(slab: Buffer, offset: number, { fee }: SharedTerms): boolean {
  if (fee === undefined) return false
  const { amount } = createReader(slab, offset + hexBytes)
  const [whole, second] = [amount(), amount()]
  return fee.chargeTo === 'provider' ? second > 0n : whole > second
}

export function unpackEnded(
  slab: Buffer,
  offset: number,
  termsAt: (number: number) => SharedTerms,
): EndedPayment {
  const text = slab.toString('hex', offset, offset + hexBytes)
  let at = 0
  const hex = (bytes: number) => {
    at += bytes
    return text.slice((at - bytes) * 2, at * 2)
  }
  const nonce = `0x${hex(nonceBytes)}` as ChallengeNonce
  const payTo = `0x${hex(addressBytes)}` as Address
  const identity = hex(identityBytes)
  const txHash = `0x${hex(hashBytes)}` as TxHash
  const blockHash = `0x${hex(hashBytes)}`
  const from = `0x${hex(addressBytes)}` as Address

  const { amount, small, safe, short } = createReader(slab, offset + hexBytes)
  const [price, second, value] = [amount(), amount(), amount()]
  const [issuedAt, expiresAt, deadline, acceptedAt] = [small(), small(), small(), small()]
  const [issuedAtBlock, blockNumber, leafIndex] = [BigInt(small()), BigInt(small()), BigInt(small())]
  const powNonce = safe()
  const { fee, ...place } = termsAt(short())
  const challenge = {
    nonce,
    payTo,
    ...readPrices(price, second, fee),
    issuedAt: issuedAt as UnixSeconds,
    expiresAt: expiresAt as UnixSeconds,
    ...(deadline > 0 && { deadline: (deadline - 1) as UnixSeconds }),
    powNonce,
    ...place,
    issuedAtBlock,
  }
  return {
    challenge,
    identity,
    burn: { txHash, blockNumber, blockHash, leafIndex, from, value },
    at: acceptedAt as UnixSeconds,
  }
}

/** False when a value does not fit into its field. */
export function packFinalized(record: Buffer, { mint, at }: Finalized): boolean {
  // No transaction hashes to 0.
  record.write((mint.txHash ?? noHash).slice(2), 0, hashBytes, 'hex')
  const { amount, small, fits } = createWriter(record, hashBytes)
  amount(mint.value)
  small(oneHigher(mint.blockNumber === undefined ? undefined : Number(mint.blockNumber)))
  small(at)
  return fits()
}

export function unpackFinalized(slab: Buffer, offset: number): Finalized {
  const txHash = `0x${slab.toString('hex', offset, offset + hashBytes)}` as TxHash
  const { amount, small } = createReader(slab, offset + hashBytes)
  const [value, block, at] = [amount(), small(), small()]
  const mint = {
    ...(txHash !== noHash && { txHash }),
    ...(block > 0 && { blockNumber: BigInt(block - 1) }),
    value,
  }
  return { mint, at: at as UnixSeconds }
}

/** An optional number is stored one higher, so that 0 means that there is none. */
const oneHigher = (value: number | undefined) => (value === undefined ? 0 : value + 1)

function createWriter(record: Buffer, start: number) {
  let offset = start
  let fits = true
  const next = (bytes: number) => {
    offset += bytes
    return offset - bytes
  }
  return {
    amount(value: bigint): void {
      fits &&= value < wordLimit * wordLimit
      record.writeBigUInt64BE(BigInt.asUintN(64, value >> wordBits), next(8))
      record.writeBigUInt64BE(BigInt.asUintN(64, value), next(8))
    },
    small(value: number): void {
      fits &&= value < smallLimit
      record.writeUIntBE(fits ? value : 0, next(smallBytes), smallBytes)
    },
    safe(value: number): void {
      record.writeUInt32BE(Math.floor(value / halfLimit), next(4))
      record.writeUInt32BE(value % halfLimit, next(4))
    },
    short(value: number): void {
      fits &&= value < shortLimit
      record.writeUInt16BE(fits ? value : 0, next(shortBytes))
    },
    fits: () => fits,
  }
}

function createReader(slab: Buffer, start: number) {
  let offset = start
  const next = (bytes: number) => {
    offset += bytes
    return offset - bytes
  }
  return {
    amount: () => ((slab.readBigUInt64BE(next(8)) << wordBits) | slab.readBigUInt64BE(next(8))) as BaseUnits,
    small: () => slab.readUIntBE(next(smallBytes), smallBytes),
    safe: () => slab.readUInt32BE(next(4)) * halfLimit + slab.readUInt32BE(next(4)),
    short: () => slab.readUInt16BE(next(shortBytes)),
  }
}
