import { setTimeout as sleep } from 'node:timers/promises'
import { developmentRoles, startChain } from '@svc-zerc20/devnet'
import { type ReasonCode, reasons } from '@svc-zerc20/protocol'
import { type Hex, parseEther, parseGwei, toHex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { startLyingNode } from '../../../test/lying-node.js'
import { type SettleBody, startNetwork, type TestNetwork } from '../../../test/network.js'
import { limits } from '../../config/limits.js'

const relayer = privateKeyToAccount(developmentRoles.relayer.privateKey)
const config = { settlement: { receipt_poll_ms: 300 } }

let net: TestNetwork
let payer: PrivateKeyAccount
beforeAll(async () => {
  net = await startNetwork({ config })
})
beforeEach(async () => {
  payer = await net.account()
})
afterEach(async () => {
  net.chain.setFaults([])
  await net.chain.resumeMining()
})
afterAll(() => net.close())

const count = (event: string, among: TestNetwork = net) =>
  among.events.filter((seen) => seen.event === event).length

/** Sends the same payload, and lets time pass, for as long as the answer says that this may help. */
function untilEnded(body: object, stepMs = 0, among: TestNetwork = net): Promise<SettleBody> {
  return until(async () => {
    const { body: answer } = await among.settle(body)
    const { errorReason: reason } = answer
    const { retry } = reasons[(reason ?? 'internal_error') as ReasonCode]
    if (reason === undefined || retry === 'never' || retry === 'fresh_offer') return answer
    among.clock.advance(stepMs)
    return undefined
  })
}

/** The burn is on chain once, its grant is used, and the ledger says the same as the chain. */
async function expectOneBurn(challengeNonce: Hex, answer: SettleBody, among: TestNetwork = net) {
  expect(answer).toMatchObject({ success: true })
  const burns = await among.burnsOf(challengeNonce)
  expect(burns.map(({ transactionHash }) => transactionHash)).toEqual([answer.transaction])
  const { body: status } = await among.status(challengeNonce)
  expect(status).toMatchObject({ phase: 'accepted', transaction: answer.transaction })
}

const sentByRelayer = () => net.client.getTransactionCount({ address: relayer.address })

describe('fault 17 the answer to the broadcast is lost', () => {
  it.each([
    { kind: 'dropResponse' },
    { kind: 'httpStatus', status: 504, executed: true },
    { kind: 'hang', executed: true },
  ] as const)('the burn is accepted, and executed once ($kind)', async (effect) => {
    const { offer, body } = await net.permitPayment(payer)
    const sent = await sentByRelayer()
    net.chain.setFaults([{ method: 'eth_sendRawTransaction', ...effect, times: 1 }])
    await expectOneBurn(offer.challengeNonce, await untilEnded(body))
    expect(await sentByRelayer()).toBe(sent + 1)
  })

  it('the node is down for the broadcast: the burn is sent when it is back', async () => {
    const { offer, body } = await net.permitPayment(payer)
    net.chain.setFaults([
      { method: 'eth_sendRawTransaction', kind: 'dropResponse', executed: false, times: 3 },
    ])
    await expectOneBurn(offer.challengeNonce, await untilEnded(body, limits.rebroadcastMs))
  })

  it('the node is down for everything: 503 and no claim, and the same payload is good later', async () => {
    const { offer, body } = await net.permitPayment(payer)
    net.chain.setFaults([{ method: '*', kind: 'httpStatus', status: 500 }])
    const { status, headers, body: answer } = await net.settle(body)
    expect([status, answer.errorReason, headers.get('retry-after')]).toEqual([503, 'chain_unavailable', '5'])
    net.chain.setFaults([])
    await expectOneBurn(offer.challengeNonce, await untilEnded(body))
  })

  it('the fee cannot be read after the claim: 503, the claim is released', async () => {
    // With the usual time for an answer: a slow machine would else be told that the burn is pending.
    const patient = await startNetwork()
    try {
      const { offer, body } = await patient.permitPayment(await patient.account())
      patient.clock.advance(limits.gasPricesFreshMs)
      patient.chain.setFaults([{ method: 'eth_maxPriorityFeePerGas', kind: 'dropResponse', times: 1 }])
      const { status, body: answer } = await patient.settle(body)
      expect([status, answer.errorReason, answer.transaction]).toEqual([503, 'chain_unavailable', ''])
      expect(await patient.burnsOf(offer.challengeNonce)).toEqual([])
      await expectOneBurn(offer.challengeNonce, await untilEnded(body, 0, patient), patient)
    } finally {
      await patient.close()
    }
  })
})

describe('fault 12 the relayer runs out of gas money in the middle of the queue', () => {
  it('says so by name, keeps every burn, and goes on after funding', async () => {
    const setBalance = (wei: bigint) => net.chain.request('hardhat_setBalance', [relayer.address, toHex(wei)])
    const payers = await Promise.all(Array.from({ length: 6 }, () => net.account()))
    const payments = await net.permitPayments(payers)
    const alerts = count('relayer.unfunded')
    await setBalance(0n)
    const early = await Promise.all(payments.map(({ body }) => net.settle(body)))
    expect(early.map(({ body }) => body.errorReason)).toEqual(payments.map(() => 'pending_burn'))
    await until(() => count('relayer.unfunded') > alerts)
    await setBalance(parseEther('100'))
    for (const { offer, body } of payments) {
      await expectOneBurn(offer.challengeNonce, await untilEnded(body, limits.rebroadcastMs))
    }
  })
})

describe('someone else uses the relayer key', () => {
  it('the burn goes into a new transaction and is executed once', async () => {
    const { offer, body } = await net.permitPayment(payer)
    await net.chain.pauseMining()
    await net.walletOf(relayer).sendTransaction({
      to: relayer.address,
      maxFeePerGas: parseGwei('500'),
      maxPriorityFeePerGas: parseGwei('500'),
    })
    expect((await net.settle(body)).body.errorReason).toBe('pending_burn')
    await net.chain.resumeMining()
    const displaced = count('relayer.displaced')
    await net.passTime(limits.displacedAfterMs, () => count('relayer.displaced') > displaced)
    await expectOneBurn(offer.challengeNonce, await untilEnded(body))
  })
})

describe('fault 18 a node that lies or lags', () => {
  it('balances that lag behind the receipt are asked for again', async () => {
    const { offer, body } = await net.permitPayment(payer)
    await net.settle((await net.permitPayment(await net.account())).body)
    net.chain.setFaults([{ method: 'eth_call', kind: 'lag', blocks: 1, skip: 1, times: 3 }])
    await expectOneBurn(offer.challengeNonce, await untilEnded(body))
  })

  it('receipts that come late change nothing', async () => {
    const { offer, body } = await net.permitPayment(payer)
    net.chain.setFaults([{ method: 'eth_getTransactionReceipt', kind: 'result', value: null, times: 5 }])
    await expectOneBurn(offer.challengeNonce, await untilEnded(body))
  })

  it('receipts that never come: the replay ledger on chain shows that the burn happened', async () => {
    const { offer, body } = await net.permitPayment(payer)
    net.chain.setFaults([{ method: 'eth_getTransactionReceipt', kind: 'result', value: null }])
    expect((await net.settle(body)).body.errorReason).toBe('pending_burn')
    const displaced = count('relayer.displaced')
    await net.passTime(limits.displacedAfterMs, () => count('relayer.displaced') > displaced)
    net.chain.setFaults([])
    await expectOneBurn(offer.challengeNonce, await untilEnded(body))
  })

  it('another chain behind the same address is noticed', async () => {
    const { offer, body } = await net.permitPayment(payer)
    await net.chain.pauseMining()
    expect((await net.settle(body)).body.errorReason).toBe('pending_burn')
    net.chain.setFaults([
      { method: 'eth_chainId', kind: 'result', value: '0x1' },
      { method: 'eth_getTransactionCount', kind: 'result', value: '0xffff' },
    ])
    const failures = count('rpc.failed')
    await net.passTime(limits.displacedAfterMs, () => count('rpc.failed') > failures + 3)
    net.chain.setFaults([])
    await net.chain.resumeMining()
    await expectOneBurn(offer.challengeNonce, await untilEnded(body))
  })

  describe('with receipts of its own making', () => {
    let liar: Awaited<ReturnType<typeof startLyingNode>>
    let misled: TestNetwork
    let chain: TestNetwork['chain']
    beforeAll(async () => {
      chain = await startChain()
      liar = await startLyingNode(chain)
      misled = await startNetwork({ chain, rpcUrl: liar.url, config })
    })
    afterAll(async () => {
      await misled.close()
      await liar.close()
      await chain.close()
    })

    it.each([
      ['without logs', () => []],
      ['with logs that make no sense', (logs: object[]) => logs.map((log) => ({ ...log, data: '0x01' }))],
      ['with logs that are none', (logs: object[]) => logs.map(() => null)],
    ])('%s, the burn is looked up and accepted', async (_what, change) => {
      const { offer, body } = await misled.permitPayment(await misled.account())
      const burner = misled.deployment.permitBurner.toLowerCase()
      let lies = 1
      liar.lie(({ method }, truth) => {
        const receipt = truth as { to?: string; logs: object[] } | null
        if (method !== 'eth_getTransactionReceipt' || receipt?.to !== burner || lies === 0) return undefined
        lies -= 1
        return { ...receipt, logs: change(receipt.logs) }
      })
      const answer = await untilEnded(body, 0, misled)
      expect(lies).toBe(0)
      liar.tellTruth()
      await expectOneBurn(offer.challengeNonce, answer, misled)
    })
  })
})

describe('a reorg before the burn is confirmed', () => {
  let deep: TestNetwork
  beforeAll(async () => {
    deep = await startNetwork({ config: { settlement: { ...config.settlement, confirmations: 2 } } })
  })
  afterAll(() => deep.close())

  it.each([true, false])('ends in one burn on the chain that stayed (kept by the node: %s)', async (kept) => {
    const { offer, body } = await deep.permitPayment(await deep.account())
    const burns = () => deep.burnsOf(offer.challengeNonce)
    expect((await deep.settle(body)).body.errorReason).toBe('pending_burn')
    // On a busy machine the settle is answered before the burn is mined.
    const lost = await until(async () => (await burns())[0])
    await deep.chain.pauseMining()
    const { transactions } = await deep.chain.reorg(1, { keepTransactions: kept })
    expect(transactions).toEqual([lost.transactionHash])
    expect(await burns()).toEqual([])
    expect((await deep.settle(body)).body.errorReason).toBe('pending_burn')
    await deep.chain.resumeMining()
    await deep.passTime(limits.rebroadcastMs, async () => (await burns()).length === 1)
    await deep.chain.mine()
    await expectOneBurn(offer.challengeNonce, await untilEnded(body, 0, deep), deep)
    const [stayed] = await burns()
    expect(stayed?.blockHash).not.toBe(lost.blockHash)
  })
})

describe('everything at once', () => {
  const seeds = process.env.SEED === undefined ? [1, 2] : [Number(process.env.SEED)]
  it.each(seeds)(
    'every payment ends in one burn, or in a named failure without one (SEED=%i)',
    async (seed) => {
      const wild = await startNetwork({
        config: { settlement: { receipt_poll_ms: 200, confirmations: 2 }, zerc20: { pool_size: 48 } },
        mining: { mode: 'interval', intervalMs: 25 },
      })
      try {
        await runWild(wild, seed)
      } finally {
        await wild.close()
      }
    },
  )
})

describe('close', () => {
  it('in the middle of a burn, with the node gone, comes to an end and asks nothing more', async () => {
    const closing = await startNetwork({ config: { ...config, daemon: { shutdown_grace_ms: 50 } } })
    const { body } = await closing.permitPayment(await closing.account())
    closing.chain.setFaults([{ method: 'eth_call', kind: 'httpStatus', status: 500, skip: 1 }])
    expect((await closing.settle(body)).body.errorReason).toBe('pending_burn')
    await until(() => count('relayer.mined', closing) > 0)
    const failures = count('rpc.failed', closing)
    await until(() => count('rpc.failed', closing) > failures)
    await closing.close()
    // What was asked before may still fail.
    await sleep(5 * limits.receiptPollMaxMs)
    const failed = count('rpc.failed', closing)
    await sleep(5 * limits.receiptPollMaxMs)
    expect(count('rpc.failed', closing)).toBe(failed)
  })
})

type Trouble = (random: () => number) => Promise<unknown>

/** Payments of many payers at once, while the node, the mempool, the chain and the key misbehave by the seed. */
async function runWild(wild: TestNetwork, seed: number): Promise<void> {
  const { chain, clock } = wild
  const random = seededRandom(seed)
  const payers = await Promise.all(Array.from({ length: 24 }, () => wild.account()))
  // Every fourth payer signs the same permit nonce for a second challenge: only one of the two can be burned.
  const rivals = payers.filter((_, i) => i % 4 === 0)
  const all = await wild.permitPayments([...payers, ...rivals])
  const causing = causeTrouble(wild, random)
  // Every payload is presented twice at once.
  const asking = all.map(({ body }) => Promise.all([untilEnded(body, 0, wild), untilEnded(body, 0, wild)]))
  await causing
  chain.setFaults([])
  await chain.resumeMining()
  const passing = setInterval(() => clock.advance(limits.rebroadcastMs / 4), 20)
  const answers = await Promise.all(asking).finally(() => clearInterval(passing))
  await chain.mine(3)

  for (const [i, { offer }] of all.entries()) {
    const given = answers[i] ?? []
    const burns = await wild.burnsOf(offer.challengeNonce)
    const granted = given.filter(({ success }) => success)
    const { body: status } = await wild.status(offer.challengeNonce)
    const why = `payment ${i}: ${JSON.stringify(given)}`
    expect([granted.length, status.phase === 'accepted'], why).toEqual([burns.length, burns.length === 1])
    expect(granted.map(({ transaction }) => transaction)).toEqual(
      burns.map(({ transactionHash }) => transactionHash),
    )
    if (burns.length === 0)
      for (const { errorReason } of given) expect(reasons).toHaveProperty(`${errorReason}`)
  }
  const burned = answers.filter((given) => given.some(({ success }) => success)).length
  expect(burned).toBeGreaterThanOrEqual(payers.length / 2)
  expect(count('burn.interrupted', wild)).toBe(0)
}

async function causeTrouble({ chain, clock }: TestNetwork, random: () => number): Promise<void> {
  const setBalance = (wei: bigint) => chain.request('hardhat_setBalance', [relayer.address, toHex(wei)])
  const troubles: Trouble[] = [
    async () => clock.advance(limits.rebroadcastMs),
    async () => clock.advance(limits.displacedAfterMs),
    async () => chain.dropPending(),
    async (next) => chain.reorg(1, { keepTransactions: next() < 0.5 }),
    async () => setBalance(0n),
    async () => setBalance(parseEther('100')),
    async () => chain.pauseMining(),
    async () => chain.resumeMining(),
    async () => sendForeign(chain),
    async (next) =>
      chain.setFaults(
        [
          { method: 'eth_sendRawTransaction', kind: 'dropResponse', probability: 0.3 },
          { method: 'eth_getTransactionReceipt', kind: 'result', value: null, probability: 0.2 },
          { method: 'eth_getTransactionReceipt', kind: 'error', probability: 0.1 },
          { method: 'eth_getTransactionCount', kind: 'lag', blocks: 2, probability: 0.2 },
          { method: 'eth_call', kind: 'lag', blocks: 2, probability: 0.2 },
          { method: '*', kind: 'dropResponse', executed: false, probability: 0.05 },
          { method: '*', kind: 'httpStatus', status: 503, probability: 0.05 },
          { method: '*', kind: 'delay', delayMs: 20, probability: 0.2 },
        ],
        { seed: Math.floor(next() * 2 ** 31) },
      ),
  ]
  for (let step = 0; step < 60; step++) {
    await troubles[Math.floor(random() * troubles.length)]?.(random)
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
  await setBalance(parseEther('100'))
}

/** Someone else spends the relayer's next nonce, at a fee that wins. */
async function sendForeign(chain: TestNetwork['chain']): Promise<void> {
  const nonce = Number(await chain.request('eth_getTransactionCount', [relayer.address, 'latest']))
  const fee = parseGwei('400')
  const raw = await relayer.signTransaction({
    type: 'eip1559',
    chainId: chain.chainId,
    nonce,
    to: relayer.address,
    gas: 21_000n,
    maxFeePerGas: fee,
    maxPriorityFeePerGas: fee,
  })
  // Refused while the key has no money or the nonce is just being used: then there is no trouble this time.
  await chain.request('eth_sendRawTransaction', [raw]).catch(() => undefined)
}

/** Numbers in [0, 1) that depend on the seed alone (xorshift). */
function seededRandom(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state = (state ^ (state << 5)) >>> 0
    return state / 2 ** 32
  }
}
