/**
 * A chain as a tree of blocks. One tip is canonical, and every view of a node is a tip: whatever a node tells is read from
 * the blocks below its tip, so that a node that lags or stands on a branch that is no more tells a consistent story.
 */
import { permitBurnerAbi, tokenAbi } from '@svc-zerc20/contracts'
import { indexedTransferTopic } from '@svc-zerc20/evm'
import type { Address, ChallengeNonce } from '@svc-zerc20/protocol'
import { nextHashChain } from '@svc-zerc20/zk'
import type { Hex } from 'viem'
import { decodeFunctionData, encodeAbiParameters, encodeErrorResult, toEventSelector } from 'viem/utils'
import type { Draws } from './draws.js'
import type { Timeline } from './timeline.js'

export const chainId = 31337
export const token = `0x${'a1'.repeat(20)}` as Address
export const helper = `0x${'a2'.repeat(20)}` as Address
export const verifier = `0x${'a3'.repeat(20)}` as Address

export type BurnRequest = {
  readonly authorization: {
    readonly payer: Address
    readonly burnAddress: Address
    readonly value: bigint
    readonly challengeNonce: ChallengeNonce
    readonly deadline: bigint
  }
  /** The first word of the permit's signature: here it is the nonce that was signed. */
  readonly r: Hex
}

export type Call =
  | { readonly kind: 'burns'; readonly requests: readonly BurnRequest[] }
  | { readonly kind: 'mint'; readonly nonce: ChallengeNonce; readonly payTo: Address; readonly value: bigint }
  | { readonly kind: 'transfers'; readonly to: readonly { readonly to: Address; readonly value: bigint }[] }
  /** A stranger uses a permit that it read in the mempool. */
  | { readonly kind: 'permit'; readonly request: BurnRequest }
  | { readonly kind: 'empty' }

export type Transaction = {
  readonly hash: Hex
  readonly from: Address
  readonly txNonce: number
  readonly maxFeePerGas: bigint
  readonly tip: bigint
  readonly call: Call
}

type Log = { readonly address: Address; readonly topics: readonly Hex[]; readonly data: Hex }
type PlacedLog = Log & {
  readonly transactionHash: Hex
  readonly blockHash: Hex
  readonly blockNumber: Hex
}

export type Holder = { readonly balance: bigint; readonly permitNonce: bigint; readonly allowance: bigint }

export type Mined = {
  readonly transaction: Transaction
  readonly block: Block
  /** As a node reports it. */
  readonly receipt: { readonly status: Hex; readonly logs: readonly PlacedLog[] } & Record<string, unknown>
}

export type Leaf = {
  readonly block: Block
  readonly txHash: Hex
  readonly leafIndex: number
  readonly from: Address
  readonly value: bigint
}

export type Block = {
  readonly number: number
  readonly hash: Hex
  readonly time: number
  readonly baseFee: bigint
  /** All blocks up to this one, by number. */
  readonly path: readonly Block[]
  readonly mined: Mined[]
  used: ReadonlyMap<Address, number>
  holders: ReadonlyMap<Address, Holder>
  leaves: number
  hashChain: bigint
}

export type ChainFaults = {
  /** Share of the transactions that a block could take and leaves out. */
  leftOut: number
  /** Share of the transactions of a replaced block that the node forgets, and that come back in an earlier form. */
  forgottenByReorg: number
  otherFormInReorg: number
  /** Share of blocks after which the price of gas jumps. */
  priceJumps: number
}

export const word = (value: bigint | number) => value.toString(16).padStart(64, '0')
const addressWord = (address: string) => address.slice(2).padStart(64, '0')
export const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`

const executedTopic = toEventSelector('BurnExecuted(bytes32,address,address,address,uint256)')
const failedTopic = toEventSelector('BurnFailed(bytes32,bytes)')
const errorAbi = [...permitBurnerAbi, ...tokenAbi]
const errorOf = (errorName: string, args: readonly unknown[]) =>
  encodeErrorResult({ abi: errorAbi, errorName, args } as never)
const refusals = {
  expired: errorOf('BurnExpired', [0n]),
  executed: errorOf('BurnAlreadyExecuted', [`0x${word(0)}`]),
  permit: errorOf('PermitRejected', ['0x']),
  balance: errorOf('ERC20InsufficientBalance', [token, 0n, 0n]),
}

const gwei = 10n ** 9n
const nobody: Holder = { balance: 0n, permitNonce: 0n, allowance: 0n }

/** Blocks after which the verifier has proved the transfers of a block. */
const rootBlocks = 2

export type Chain = ReturnType<typeof createChain>

export function createChain(deps: {
  readonly draws: Draws
  readonly timeline: Pick<Timeline, 'now'>
  readonly faults: ChainFaults
  readonly onBlock: (what: string, block: Block) => void
}) {
  const { draws, timeline, faults } = deps
  let ids = 0
  const minedOf = new Map<Hex, Mined[]>()
  const executedIn = new Map<ChallengeNonce, Block[]>()
  const leavesTo = new Map<Address, Leaf[]>()
  const mintsOf = new Map<
    ChallengeNonce,
    { readonly block: Block; readonly value: bigint; readonly txHash: Hex }[]
  >()
  const mempool = new Map<Address, Map<number, Transaction>>()
  /** Every form that the network has ever seen, by account and txNonce. */
  const seen = new Map<string, Transaction[]>()
  let price = 10n * gwei
  const genesis = blockOn(undefined, Math.floor(timeline.now() / 1000) - 1)
  let tip = genesis
  const tips: { readonly sinceMs: number; readonly tip: Block }[] = [{ sinceMs: timeline.now(), tip }]

  function newId(): Hex {
    ids += 1
    return `0x${word(ids)}`
  }

  function blockOn(parent: Block | undefined, time: number): Block {
    const path: Block[] = parent ? [...parent.path] : []
    const block: Block = {
      number: path.length,
      hash: `0xb10c${newId().slice(6)}`,
      time: Math.max(time, (parent?.time ?? 0) + 1),
      baseFee: price,
      path,
      mined: [],
      used: parent?.used ?? new Map(),
      holders: parent?.holders ?? new Map(),
      leaves: parent?.leaves ?? 0,
      hashChain: parent?.hashChain ?? 0n,
    }
    path.push(block)
    return block
  }

  const isBelow = (view: Block, block: Block) => view.path[block.number] === block
  const holderAt = (view: Block, address: Address) => view.holders.get(address) ?? nobody
  const isExecuted = (view: Block, nonce: ChallengeNonce) =>
    executedIn.get(nonce)?.some((block) => isBelow(view, block)) === true
  const leavesAt = (view: Block, address: Address) =>
    (leavesTo.get(address) ?? []).filter(({ block }) => isBelow(view, block))
  const mintsAt = (view: Block, nonce: ChallengeNonce) =>
    (mintsOf.get(nonce) ?? []).filter(({ block }) => isBelow(view, block))
  const mintedAt = (view: Block, nonce: ChallengeNonce) =>
    mintsAt(view, nonce).reduce((sum, { value }) => sum + value, 0n)
  const provedAt = (view: Block) => view.path[Math.max(0, view.number - rootBlocks)]?.leaves ?? 0
  const usedAt = (view: Block, account: Address) => view.used.get(account) ?? 0

  function addTo<K, V>(map: Map<K, V[]>, key: K, value: V): void {
    const list = map.get(key)
    if (list) list.push(value)
    else map.set(key, [value])
  }

  /** Changes of holders that count only if the call gets through. */
  type Writing = { readonly block: Block; readonly holders: Map<Address, Holder> }
  const read = ({ block, holders }: Writing, address: Address) =>
    holders.get(address) ?? holderAt(block, address)

  function permitIn(writing: Writing, { authorization, r }: BurnRequest): Hex | undefined {
    const { payer, value, deadline } = authorization
    const holder = read(writing, payer)
    if (BigInt(r) === holder.permitNonce && BigInt(writing.block.time) <= deadline) {
      writing.holders.set(payer, { ...holder, permitNonce: holder.permitNonce + 1n, allowance: value })
    } else if (holder.allowance < value) return refusals.permit
    return undefined
  }

  /** Why the chain refuses a burn; otherwise it is in `writing`. */
  function burnIn(writing: Writing, request: BurnRequest): Hex | undefined {
    const { payer, value, deadline, challengeNonce } = request.authorization
    if (BigInt(writing.block.time) > deadline) return refusals.expired
    if (isExecuted(writing.block, challengeNonce)) return refusals.executed
    const refused = permitIn(writing, request)
    if (refused) return refused
    const holder = read(writing, payer)
    if (holder.balance < value) return refusals.balance
    writing.holders.set(payer, {
      ...holder,
      balance: holder.balance - value,
      allowance: holder.allowance - value,
    })
    return undefined
  }

  function keep({ block, holders }: Writing): void {
    if (holders.size > 0) block.holders = new Map([...block.holders, ...holders])
  }

  function moveTokens(block: Block, txHash: Hex, from: Address, to: Address, value: bigint): Log {
    const leafIndex = block.leaves
    block.leaves += 1
    block.hashChain = nextHashChain(2, block.hashChain, { from, to, value })
    addTo(leavesTo, to, { block, txHash, leafIndex, from, value })
    return {
      address: token,
      topics: [indexedTransferTopic, `0x${word(leafIndex)}`],
      data: `0x${addressWord(from)}${addressWord(to)}${word(value)}`,
    }
  }

  function burn(block: Block, txHash: Hex, request: BurnRequest): Log[] {
    const { payer, burnAddress, value, challengeNonce } = request.authorization
    const writing = { block, holders: new Map<Address, Holder>() }
    const reason = burnIn(writing, request)
    if (reason) {
      const data = encodeAbiParameters([{ type: 'bytes' }], [reason])
      return [{ address: helper, topics: [failedTopic, challengeNonce], data }]
    }
    keep(writing)
    addTo(executedIn, challengeNonce, block)
    return [
      moveTokens(block, txHash, payer, burnAddress, value),
      {
        address: helper,
        topics: [executedTopic, challengeNonce, `0x${addressWord(token)}`, `0x${addressWord(payer)}`],
        data: `0x${addressWord(burnAddress)}${word(value)}`,
      },
    ]
  }

  /** The amount that a proof of this leaf mints in a view; undefined when the verifier refuses it. */
  function dueOf(view: Block, { nonce, payTo, value }: Extract<Call, { kind: 'mint' }>): bigint | undefined {
    const isProved = leavesAt(view, payTo).some(
      (leaf) => leaf.value === value && leaf.leafIndex < provedAt(view),
    )
    const due = value - mintedAt(view, nonce)
    return isProved && due > 0n ? due : undefined
  }

  /** The logs of a call; undefined when it reverts. */
  function execute(block: Block, { hash, from, call }: Transaction): readonly Log[] | undefined {
    switch (call.kind) {
      case 'burns':
        return call.requests.flatMap((request) => burn(block, hash, request))
      case 'permit': {
        const writing = { block, holders: new Map<Address, Holder>() }
        if (permitIn(writing, call.request)) return undefined
        keep(writing)
        return []
      }
      case 'transfers': {
        const holder = holderAt(block, from)
        const sum = call.to.reduce((total, { value }) => total + value, 0n)
        if (holder.balance < sum) return undefined
        keep({ block, holders: new Map([[from, { ...holder, balance: holder.balance - sum }]]) })
        return call.to.map(({ to, value }) => moveTokens(block, hash, from, to, value))
      }
      case 'mint': {
        const due = dueOf(block, call)
        if (due === undefined) return undefined
        addTo(mintsOf, call.nonce, { block, value: due, txHash: hash })
        return []
      }
      default:
        return []
    }
  }

  function include(block: Block, transaction: Transaction): void {
    const logs = execute(block, transaction)
    const place = {
      transactionHash: transaction.hash,
      blockHash: block.hash,
      blockNumber: quantity(block.number),
    }
    const receipt = {
      ...place,
      status: quantity(logs ? 1 : 0),
      logs: (logs ?? []).map((log) => ({ ...log, ...place })),
    }
    const mined = { transaction, block, receipt }
    block.used = new Map(block.used).set(transaction.from, transaction.txNonce + 1)
    block.mined.push(mined)
    addTo(minedOf, transaction.hash, mined)
  }

  /** The next transaction of each account that a block could hold, in the order of accounts. */
  function fill(block: Block): void {
    for (const [account, waiting] of mempool) {
      for (;;) {
        const transaction = waiting.get(usedAt(block, account))
        if (!transaction || transaction.maxFeePerGas < block.baseFee || draws.happens(faults.leftOut)) break
        include(block, transaction)
      }
    }
  }

  /** Forgets what can never be mined. */
  function tidy(): void {
    for (const [account, waiting] of mempool) {
      for (const txNonce of waiting.keys()) if (txNonce < usedAt(tip, account)) waiting.delete(txNonce)
    }
  }

  function moveTip(next: Block, what: string): void {
    tip = next
    tips.push({ sinceMs: timeline.now(), tip })
    tidy()
    deps.onBlock(what, tip)
  }

  function drift(): void {
    if (draws.happens(faults.priceJumps)) price = gwei * BigInt(draws.between(5, 60))
  }

  function poolOf(account: Address): Map<number, Transaction> {
    const pool = mempool.get(account) ?? new Map<number, Transaction>()
    mempool.set(account, pool)
    return pool
  }

  const formsOf = ({ from, txNonce }: Transaction) => seen.get(`${from}/${txNonce}`) ?? []

  const readBurns = createReadBurns()

  return {
    tip: () => tip,
    newId,
    isBelow,
    holderAt,
    usedAt,
    isExecuted,
    leavesAt,
    mintsAt,
    mintedAt,
    provedAt,
    dueOf,
    readBurns,
    leavesEver: (address: Address): readonly Leaf[] => leavesTo.get(address) ?? [],

    /** The tip as of some time ago. */
    tipBefore(ms: number): Block {
      const atMs = timeline.now() - ms
      return (tips.findLast(({ sinceMs }) => sinceMs <= atMs) ?? tips[0])?.tip ?? tip
    },

    minedIn: (view: Block, hash: Hex) => minedOf.get(hash)?.find(({ block }) => isBelow(view, block)),

    /** Why burns would fail now, one for each, every one behind those before it. */
    tryBurns(view: Block, requests: readonly BurnRequest[]): readonly (Hex | undefined)[] {
      const holders = new Map<Address, Holder>()
      return requests.map((request) => {
        const own = { block: view, holders: new Map(holders) }
        const refused = burnIn(own, request)
        if (!refused) for (const [address, holder] of own.holders) holders.set(address, holder)
        return refused
      })
    },

    /** Gives tokens at the very beginning. */
    fund(address: Address, balance: bigint): void {
      tip.holders = new Map(tip.holders).set(address, { ...nobody, balance })
    },

    /** Transactions of an account that are mined, or wait without a gap. */
    pendingCount(view: Block, account: Address): number {
      const pool = poolOf(account)
      let next = usedAt(view, account)
      while (pool.has(next)) next += 1
      return next
    },

    /** Takes a transaction into the mempool, or tells in a node's words why not. */
    submit(transaction: Transaction, { isKept = true } = {}): string | undefined {
      const { from, txNonce, hash } = transaction
      if (txNonce < usedAt(tip, from)) return 'nonce too low'
      const pool = poolOf(from)
      const held = pool.get(txNonce)
      if (held?.hash === hash) return 'already known'
      const isRaised = (before: bigint, after: bigint) => after * 10n >= before * 11n
      if (
        held &&
        !(isRaised(held.maxFeePerGas, transaction.maxFeePerGas) && isRaised(held.tip, transaction.tip))
      ) {
        return 'replacement transaction underpriced'
      }
      const key = `${from}/${txNonce}`
      if (!formsOf(transaction).some((form) => form.hash === hash)) addTo(seen, key, transaction)
      if (isKept) pool.set(txNonce, transaction)
      return undefined
    },

    /** Someone else with the key of an account uses its next txNonce. */
    usurp(account: Address): void {
      const txNonce = usedAt(tip, account)
      poolOf(account).set(txNonce, {
        hash: newId(),
        from: account,
        txNonce,
        maxFeePerGas: 10n ** 12n,
        tip: gwei,
        call: { kind: 'empty' },
      })
    },

    evict(): void {
      for (const [account, pool] of mempool) {
        for (const txNonce of pool.keys()) if (draws.happens(0.3)) pool.delete(txNonce)
        if (pool.size === 0) mempool.delete(account)
      }
    },

    waiting: () => [...mempool.values()].flatMap((pool) => [...pool.values()]),

    mine(): void {
      drift()
      const block = blockOn(tip, Math.floor(timeline.now() / 1000))
      fill(block)
      moveTip(block, 'block')
    },

    /** Replaces the newest blocks by others. Their transactions wait again, are forgotten, or come in another form. */
    reorg(depth: number): void {
      const from = tip.path[Math.max(0, tip.number - depth)] ?? tip
      for (const { mined } of tip.path.slice(from.number + 1)) {
        for (const { transaction } of mined) {
          if (draws.happens(faults.forgottenByReorg)) continue
          const isOther = draws.happens(faults.otherFormInReorg)
          const form = isOther ? draws.oneOf([...formsOf(transaction), transaction]) : transaction
          const pool = poolOf(transaction.from)
          if (!pool.has(transaction.txNonce)) pool.set(transaction.txNonce, form)
        }
      }
      let next = from
      const until = tip.number + draws.between(0, 1)
      for (let number = from.number + 1; number <= until; number++) {
        drift()
        next = blockOn(next, (tip.path[number] ?? { time: Math.floor(timeline.now() / 1000) }).time)
        fill(next)
      }
      if (next !== from) moveTip(next, `reorg of ${depth}`)
    },

    /** A price that every transaction of ours covers. */
    calm(): void {
      price = 10n * gwei
    },
  }
}

/** Calldata of the permit burner is decoded once, however often its transaction is replaced. */
function createReadBurns(): (data: Hex) => readonly BurnRequest[] {
  const known = new Map<Hex, readonly BurnRequest[]>()
  return (data) => {
    const requests = known.get(data) ?? requestsIn(data)
    known.set(data, requests)
    return requests
  }
}

function requestsIn(data: Hex): readonly BurnRequest[] {
  const { args } = decodeFunctionData({ abi: permitBurnerAbi, data })
  return toRequests((args as unknown as [unknown])[0])
}

/** As viem decodes them: its addresses are in mixed case. */
export const toRequests = (decoded: unknown): readonly BurnRequest[] =>
  (decoded as readonly BurnRequest[]).map(({ authorization, r }) => ({
    r,
    authorization: {
      ...authorization,
      payer: authorization.payer.toLowerCase() as Address,
      burnAddress: authorization.burnAddress.toLowerCase() as Address,
    },
  }))
