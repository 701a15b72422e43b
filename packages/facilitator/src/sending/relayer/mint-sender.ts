/**
 * The account that sends mints: the minter when it has a key, and the relayer otherwise. Mints that an earlier run signed
 * go on from the account that signed them, so a key that is set, changed or removed meanwhile loses nothing.
 */
import type { Address } from '@svc-zerc20/protocol'
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
  const { address, submit } = minter ?? relayer
  return {
    address,
    submit,
    async resume(earlier) {
      // The record of a transaction names the account, unless the relayer is the only one.
      const from = earlier.forms.at(-1)?.from ?? relayer.address
      const sender = [relayer, minter].find((account) => account?.address === from)
      return sender ? sender.resume(earlier) : { kind: 'displaced', why: 'foreign' }
    },
  }
}
