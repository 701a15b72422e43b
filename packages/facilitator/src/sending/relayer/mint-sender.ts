/**
 * The account that sends mints: the minter when it has a key, and the relayer otherwise. Mints that an earlier run signed
 * go on from the account that signed them, so a key that is set, changed or removed meanwhile loses nothing.
 */
import type { Relayer } from './relayer.js'

/** New mints come from its address, by which the verifier keeps the counts of batch mints. */
export type MintSender = Pick<Relayer, 'address' | 'submit' | 'resume'>

export function createMintSender({
  relayer,
  minter,
}: {
  readonly relayer: MintSender
  readonly minter: MintSender | undefined
}): MintSender {
  const { address, submit } = minter ?? relayer
  return {
    address,
    submit,
    async resume(earlier) {
      const from = earlier.versions.at(-1)?.from
      const sender = [relayer, minter].find((account) => account?.address === from)
      // A mint that a lost key signed is proved again and sent from `address`.
      return sender ? sender.resume(earlier) : { kind: 'displaced', why: 'foreign' }
    },
  }
}
