/** Signs a transaction of one key. Its hash is known before anybody has seen it, so that it can be recorded first. */
import { type Address, parseTxHash, SvcError, type TxHash } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { keccak256 } from 'viem/utils'
import type { GasPrice } from './gas-prices.js'

/** The part of an account that signs a hash: r, s and v, as 65 bytes of hex. */
export type HashSigner = Pick<PrivateKeyAccount, 'sign'>

/** Keccak-256. A program that signs often has a quicker one than viem's, which a payer should not have to install. */
type Hash = (bytes: Uint8Array) => Uint8Array

const viemHash: Hash = (bytes) => keccak256(bytes, 'bytes')

/** Type of the envelope (EIP-2718) of a transaction with a tip (EIP-1559). */
const envelope = '02'

export async function signTransaction(
  account: HashSigner,
  transaction: {
    readonly chainId: number
    readonly txNonce: number
    readonly to: Address
    readonly data: Hex
    readonly gas: bigint
    readonly price: GasPrice
  },
  keccak = viemHash,
): Promise<{ readonly hash: TxHash; readonly raw: Hex }> {
  const { chainId, txNonce, to, data, gas, price } = transaction
  const fields =
    rlpNumber(chainId) +
    rlpNumber(txNonce) +
    rlpNumber(price.maxPriorityFeePerGas) +
    rlpNumber(price.maxFeePerGas) +
    rlpNumber(gas) +
    rlpBytes(to.slice(2)) +
    // Nothing is sent along.
    rlpNumber(0) +
    rlpBytes(data.slice(2)) +
    emptyList
  const hashOf = (digits: string): Hex =>
    `0x${Buffer.from(keccak(Buffer.from(digits, 'hex'))).toString('hex')}`
  const signature = await account.sign({ hash: hashOf(`${envelope}${rlpList(fields)}`) })
  const r = rlpNumber(BigInt(signature.slice(0, 66)))
  const s = rlpNumber(BigInt(`0x${signature.slice(66, 130)}`))
  const yParity = rlpNumber(Number.parseInt(signature.slice(130), 16) - 27)
  const raw = `${envelope}${rlpList(fields + yParity + r + s)}`
  const hash = parseTxHash(hashOf(raw))
  if (hash === undefined) throw new SvcError('invariant', 'a signed transaction has no hash')
  return { hash, raw: `0x${raw}` }
}

/** RLP, with everything as hex digits. No addresses are named in advance: an empty list. */
const emptyList = 'c0'
const longest = 55

const rlpList = (items: string): string => rlpHead(0xc0, items.length / 2) + items

function rlpBytes(digits: string): string {
  const isItself = digits.length === 2 && Number.parseInt(digits, 16) < 0x80
  return isItself ? digits : rlpHead(0x80, digits.length / 2) + digits
}

/** Without leading zeros; zero is no bytes at all. */
function rlpNumber(value: bigint | number): string {
  const digits = Number(value) === 0 ? '' : value.toString(16)
  return rlpBytes(digits.length % 2 === 0 ? digits : `0${digits}`)
}

function rlpHead(base: number, length: number): string {
  if (length <= longest) return (base + length).toString(16)
  const digits = length.toString(16)
  const bytes = digits.length % 2 === 0 ? digits : `0${digits}`
  return (base + longest + bytes.length / 2).toString(16) + bytes
}
