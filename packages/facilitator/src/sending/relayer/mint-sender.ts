/**
 * The account that sends mints: the minter when it has a key, and the relayer otherwise. Mints that an earlier run signed
 * go on from the account that signed them, so a key that is set, changed or removed meanwhile loses nothing.
 */
import type { Address } from '@svc-zerc20/protocol'
import type { SignedTransaction } from '../../payment/records.js'
import type { Relayer } from './relayer.js'

export type MintSender = {
  /** New mints come from here. The verifier keeps the counts of batch mints by this address. */
  readonly address: Address
  readonly submit: Relayer['submit']
  /** A mint that a lost key signed ends as displaced: the same payment is proved again and sent from `address`. */
  readonly resume: Relayer['resume']
}

type Account = Pick<Relayer, 'address' | 'submit' | 'resume'>

export function createMintSender({
  relayer,
  minter,
}: {
  readonly relayer: Account
  readonly minter: Account | undefined
}): MintSender {
  if (!minter) {
    return { address: relayer.address, submit: relayer.submit, resume: (earlier) => resumeFrom(earlier) }
  }
  const { address } = minter
  return {
    address,
    submit: (call) => minter.submit({ ...call, recordSigned: named(call.recordSigned) }),
    resume: (earlier) => resumeFrom(earlier),
  }

  /** The record of a transaction names the account, unless it is the relayer. */
  function named(record: (transaction: SignedTransaction) => Promise<void>) {
    return (transaction: SignedTransaction) =>
      record(minter ? { ...transaction, from: minter.address } : transaction)
  }

  function resumeFrom(earlier: Parameters<Relayer['resume']>[0]): ReturnType<Relayer['resume']> {
    const from = earlier.forms.at(-1)?.from
    if (from === undefined || from === relayer.address) return relayer.resume(earlier)
    if (from === minter?.address) {
      return minter.resume({ ...earlier, recordSigned: named(earlier.recordSigned) })
    }
    return Promise.resolve({ kind: 'displaced', why: 'foreign' })
  }
}
