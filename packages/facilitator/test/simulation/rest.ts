/** Whether everything has come to its end: nothing is under way, and chain and ledger tell the same of every purchase. */
import type { Books } from '../../src/payment/books.js'
import { interrupted } from '../../src/store/adapters/flow-questions.js'
import type { Chain } from './chain.js'
import type { Database } from './database.js'
import type { Purchase, Rules } from './rules.js'
import type { Host } from './shop.js'

/** Names the work that has not come to its end; undefined when there is none. */
export function createUnrest(deps: {
  readonly database: Pick<Database, 'ask'>
  readonly books: Pick<Books, 'find'>
  readonly chain: Chain
  readonly rules: Rules
  readonly hosts: readonly Host[]
}): () => Promise<string | undefined> {
  const { database, books, chain, rules, hosts } = deps

  async function ofPurchase({ nonce, payTo, end, served }: Purchase): Promise<string | undefined> {
    if (end === undefined) return 'its payer still waits'
    const tip = chain.tip()
    const leaves = chain.leavesAt(tip, payTo)
    const isPaid = leaves.length > 0
    const payment = await books.find(nonce)
    if (!payment) return isPaid ? 'the ledger has forgotten it' : undefined
    const { accepted, late, granted, claim, demoted, finalized } = payment
    const counted = accepted ?? late
    if (!counted && isPaid) return 'its burn is in no record'
    // A burn that bought nothing, and that a reorg took for good, is looked for again and again.
    const isLost = !accepted && !isPaid
    if (counted && !isLost) {
      if (!finalized) return 'it is not finalized'
      const { txHash, value } = counted.burn
      // Its block may be another one than the ledger has: behind its mint nobody reads a burn again.
      if (!leaves.some((leaf) => leaf.txHash === txHash && leaf.value === value))
        return 'the chain does not hold its burn'
      if (chain.mintedAt(tip, nonce) < counted.burn.value) return 'it is not minted as the ledger has it'
    }
    const isTold = served.length > 0 || (granted && end === 'already_accepted') || end === 'left'
    if (accepted && !isTold) {
      return 'it is accepted, and nobody was served'
    }
    if (claim?.permit && !accepted && !demoted) return 'its claim is neither burned nor released'
    return undefined
  }

  return async () => {
    const { transactions, unsigned, mints } = database.ask(interrupted())
    const items = [...transactions.flatMap((each) => each.items), ...unsigned]
    const payments = await Promise.all(items.map(({ challenge }) => books.find(challenge.nonce)))
    // A reorg took the burn of a demoted one, and it could not be burned again in time: it keeps its transaction for ever.
    const open = payments.filter((payment) => payment && !payment.demoted)
    if (open.length > 0) return `${open.length} burns are under way`
    const minting = await Promise.all(
      mints.map(({ nonces }) => Promise.all(nonces.map((nonce) => books.find(nonce)))),
    )
    const due = minting.filter((of) => !of.every((payment) => payment?.demoted))
    if (due.length > 0) return `${due.length} mints are under way`
    if (!hosts.some(({ daemon }) => daemon?.isActive())) return 'nobody works'
    for (const { daemon, isGone } of hosts) {
      if (isGone) continue
      if (!daemon) return 'a facilitator does not serve'
      const [waiting] = daemon.queue()
      if (waiting) return `txNonce ${waiting.txNonce} of the relayer waits`
    }
    for (const purchase of rules.purchases.values()) {
      const unrest = await ofPurchase(purchase)
      if (unrest !== undefined) return `${purchase.nonce} (${purchase.kind}, ${purchase.end}): ${unrest}`
    }
    return undefined
  }
}
