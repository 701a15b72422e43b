/** Finalization against a chain, an indexer and a prover that fail for real. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { feeSplitterAbi, feeSplitterBytecode, permitBurnerAbi, verifierAbi } from '@svc-zerc20/contracts'
import { developmentRoles, minedReceipt } from '@svc-zerc20/devnet'
import { encodeFunctionData, type Hex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { createLog } from '../../../test/log.js'
import { type LyingIndexer, startLyingIndexer } from '../../../test/lying-indexer.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { startOwnFacilitator } from '../../../test/own-facilitator.js'
import { bodyOf, type ChallengeOffer } from '../../../test/payment.js'
import { splitOf } from '../../../test/splitter.js'

const { provider, minter, relayer } = developmentRoles
const observer = fileURLToPath(new URL('../../../../../tools/observer/dist/main.js', import.meta.url))

let net: TestNetwork
let indexer: LyingIndexer
let payer: PrivateKeyAccount
let expected = 0n
const paid: Hex[] = []
beforeAll(async () => {
  indexer = await startLyingIndexer()
  net = await startNetwork({
    finalization: true,
    minterKey: true,
    config: { network: { indexer_url: indexer.url }, finalize: { confirmations: 3 } },
  })
  indexer.forwardTo(net.indexerUrl)
  payer = await net.account({ gas: true })
})
afterEach(() => indexer.say('truth'))
afterAll(async () => {
  await net.close()
  await indexer.close()
})

/** Blocks come one by one, so that mints get their depth. */
async function untilFinalized(nonce: Hex): Promise<void> {
  await until(async () => {
    if ((await net.phaseOf(nonce)) === 'finalized') return true
    await net.chain.mine()
    await new Promise((resolve) => setTimeout(resolve, 200))
    return false
  })
}

async function pay(amount: string): Promise<Hex> {
  const { offer, body } = await net.permitPayment(payer, amount)
  expect((await net.settle(body)).body).toMatchObject({ success: true, extra: { phase: 'accepted' } })
  paid.push(offer.challengeNonce)
  return offer.challengeNonce
}

async function expectFinalized(nonce: Hex, amount: bigint): Promise<void> {
  await untilFinalized(nonce)
  expected += amount
  expect(await net.balanceOf(provider.address)).toBe(expected)
  expect(await turnsOf(nonce, 'payment_finalized')).toHaveLength(1)
}

/** All that somebody without credentials is told who has the nonce and the payload, as a gasless burn shows them. */
async function toldToStrangers(nonce: Hex, body: unknown): Promise<string> {
  const answers = [await net.status(nonce), await net.settle(body), await net.verify(body)]
  return JSON.stringify(
    answers.map(({ status, headers, text }) => {
      const { date, ...lasting } = Object.fromEntries(headers)
      return [status, lasting, text]
    }),
  )
}

async function retry(nonce: Hex): Promise<unknown> {
  return (await net.admin(`/payments/${nonce}/retry`, 'POST')).body.mint
}

const reported = (event: string) => net.events.filter((told) => told.event === event)

/** The turns of a payment, as its operator sees them: the log does not tell whose mint it was. */
async function turnsOf(nonce: Hex, turn: string): Promise<readonly unknown[]> {
  const { timeline } = (await net.admin(`/payments/${nonce}`)).body as { timeline: { event: string }[] }
  return timeline.filter(({ event }) => event === turn)
}

const setEmergency = (functionName: 'activateEmergency' | 'deactivateEmergency') =>
  net.transact(privateKeyToAccount(developmentRoles.deployer.privateKey), {
    to: net.deployment.verifier,
    data: encodeFunctionData({ abi: verifierAbi, functionName }),
  })

/** Replaces everything from a transaction's block on by empty blocks. */
async function reorgAway(txHash: Hex): Promise<void> {
  const { blockNumber } = await net.client.getTransactionReceipt({ hash: txHash })
  const head = await net.client.getBlockNumber()
  const { transactions } = await net.chain.reorg(Number(head - blockNumber) + 1)
  expect(transactions).toContain(txHash)
}

/** Kills processes that this one started and whose command line names a file. */
function killChildren(file: string): void {
  const pids = readdirSync('/proc/self/task').flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim().split(' ').map(Number),
  )
  for (const pid of pids) {
    if (pid > 0 && commandOf(pid).includes(file)) process.kill(pid, 'SIGKILL')
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    // It has ended meanwhile.
    return ''
  }
}

async function lastMint(): Promise<Hex> {
  const events = await net.client.getContractEvents({
    address: net.deployment.verifier,
    abi: verifierAbi,
    eventName: 'Teleport',
    fromBlock: 0n,
  })
  return events.at(-1)?.transactionHash ?? '0x'
}

describe('finalization', () => {
  it('R-008 R-114 fault 19: ends with the mint, though the indexer lies and the prover is killed in the middle', async () => {
    indexer.say('lies')
    const nonce = await pay('1000')
    // At short intervals, whatever else this process waits for: a prover must end before it has read its key.
    const killing = setInterval(() => killChildren('proving-process'), 20)
    try {
      await until(() => reported('mint.failed').length > 0)
    } finally {
      clearInterval(killing)
    }
    expect(reported('mint.proving')).not.toEqual([])
    // The back-off need not be waited for.
    expect(await retry(nonce)).toBe('due')
    await expectFinalized(nonce, 1000n)
    expect(await retry(nonce)).toBe('finalized')
    expect(reported('indexer.failed').length).toBeGreaterThan(0)
  })

  it('R-007 R-008 fault 19: while nothing can be minted payments are accepted; past the pause it catches up without an indexer, and tells no stranger', async () => {
    indexer.say('nothing')
    await setEmergency('activateEmergency')
    const { offer, body } = await net.permitPayment(payer, '2000')
    const nonce = offer.challengeNonce
    let before: string
    try {
      expect((await net.settle(body)).body).toMatchObject({ success: true, extra: { phase: 'accepted' } })
      paid.push(nonce)
      await until(() => reported('finalize.waiting').length > 0)
      expect(await turnsOf(nonce, 'mint_signed')).toEqual([])
      before = await toldToStrangers(nonce, body)
    } finally {
      await setEmergency('deactivateEmergency')
    }
    expect(before).toContain('accepted')
    expect(before.toLowerCase()).not.toContain(provider.address.slice(2).toLowerCase())
    await expectFinalized(nonce, 2000n)
    expect(await toldToStrangers(nonce, body)).toBe(before)
  })

  it('fault 9, fault 10: a reorg takes the burn, and a later one the mint: burned and minted again, it counts once', async () => {
    const proverOfRoots = net.pids.indexer ?? 0
    const mined = reported('mint.mined').length
    process.kill(proverOfRoots, 'SIGSTOP')
    let nonce: Hex
    try {
      nonce = await pay('3000')
      const [burn] = await net.burnsOf(nonce)
      await reorgAway(burn?.transactionHash ?? '0x')
      await until(async () => (await turnsOf(nonce, 'payment_demoted')).length > 0)
    } finally {
      process.kill(proverOfRoots, 'SIGCONT')
    }
    await until(() => reported('mint.mined').length > mined)
    expect(await net.phaseOf(nonce)).toBe('accepted')
    await reorgAway(await lastMint())
    await expectFinalized(nonce, 3000n)
    expect((await net.burnsOf(nonce)).length).toBe(1)
  })

  it('fault 9: a transfer that no block holds any more is never minted', async () => {
    const offer = await net.challenge('4000')
    const burnTxHash = await net.transfer(payer, offer.payTo, '4000')
    const payload = { challengeNonce: offer.challengeNonce, burnTxHash }
    expect((await net.settle(bodyOf(offer, payload))).body.success).toBe(true)
    await reorgAway(burnTxHash)
    await until(async () => (await turnsOf(offer.challengeNonce, 'payment_demoted')).length > 0)
    expect((await net.status(offer.challengeNonce)).body.phase).toBe('open')
    expect(await turnsOf(offer.challengeNonce, 'mint_signed')).toEqual([])
    expect(await net.balanceOf(provider.address)).toBe(expected)
  })

  it('the log of all this pairs no mint with its burn, though the operator can ask for each', async () => {
    const mints = net.events.filter(({ event }) => /^mint\.|^payment\.finalized$|^indexer\./.test(event))
    expect(new Set(mints.map(({ event }) => event))).toContain('payment.finalized')
    const lines: string[] = []
    const log = createLog({ write: (line) => void lines.push(line) })
    for (const event of mints) log(event)
    for (const nonce of paid) {
      const [burn] = await net.burnsOf(nonce)
      for (const name of [nonce, burn?.transactionHash ?? nonce]) {
        expect(lines.join('').toLowerCase()).not.toContain(name.slice(2).toLowerCase())
      }
      expect(await turnsOf(nonce, 'payment_finalized')).toHaveLength(1)
      expect(await turnsOf(nonce, 'mint_signed')).not.toEqual([])
    }
  })

  it('with a minter, no mint comes from the account that sends burns, and the operator sees both accounts', async () => {
    const sendersOf = async (eventName: 'Teleport' | 'BurnExecuted') => {
      const burner = { address: net.deployment.permitBurner, abi: permitBurnerAbi }
      const verifier = { address: net.deployment.verifier, abi: verifierAbi }
      const of = (eventName === 'Teleport' ? verifier : burner) as typeof burner
      const logs = await net.client.getContractEvents({ ...of, eventName: eventName as never, fromBlock: 0n })
      const hashes = logs.map(({ transactionHash: hash }) => hash)
      const sent = await Promise.all(hashes.map((hash) => net.client.getTransaction({ hash })))
      return new Set(sent.map(({ from }) => from.toLowerCase()))
    }
    expect(await sendersOf('Teleport')).toEqual(new Set([minter.address.toLowerCase()]))
    expect(await sendersOf('BurnExecuted')).toEqual(new Set([relayer.address.toLowerCase()]))
    const { body } = await net.admin('/status')
    expect(body).toMatchObject({ minter: { address: minter.address.toLowerCase(), pending: 0 }, queue: [] })
    expect(BigInt((body.minter as { balance: string }).balance)).toBeGreaterThan(0n)
    expect((await net.admin('/metrics')).text).toMatch(/^svc_minter_balance_wei [1-9]/m)
  })

  it('amounts that nobody else pays are linked by an observer that reads the chain alone', async () => {
    const { rpcUrl } = net.chain
    const { token, verifier } = net.deployment
    const options = ['--rpc', rpcUrl, '--token', token, '--verifier', verifier, '--json']
    const { stdout } = await promisify(execFile)(process.execPath, [observer, ...options])
    const { mints } = JSON.parse(stdout) as { mints: { value: string; names: { payer: string }[] }[] }
    expect(mints.map(({ value }) => value)).toEqual(['1000', '2000', '3000'])
    expect(new Set(mints.map(({ names }) => names.map(({ payer }) => payer).join()))).toEqual(
      new Set([payer.address.toLowerCase()]),
    )
  })
})

describe('a treasury that is a splitter', () => {
  it('R-060 R-069 gets the mints, and gives provider and fee recipient their parts to the unit', async () => {
    const terms = { bps: 333, payerPays: true }
    const [seller, recipient] = [await net.account({ tokens: 0n }), await net.account({ tokens: 0n })]
    const hash = await net.walletOf(payer).deployContract({
      abi: feeSplitterAbi,
      bytecode: feeSplitterBytecode,
      args: [net.deployment.token, seller.address, recipient.address, terms.bps, terms.payerPays],
    })
    const splitter = (await minedReceipt(net.client, hash)).contractAddress ?? '0x'
    const own = await startOwnFacilitator(net, {
      journal: 'split.jsonl',
      config: {
        settlement: { treasury: splitter },
        // Too much for the daemon to distribute by itself.
        fee: { bps: terms.bps, min_per_payment: '0', charge_to: 'payer', splitter, sweep_min: '1000000' },
        finalize: { confirmations: 1 },
      },
    })
    try {
      const prices = ['1001', '2999']
      const offers: ChallengeOffer[] = []
      for (const price of prices) {
        const offer = await own.challenge(price)
        offers.push(offer)
        const body = bodyOf(offer, await net.permitFor(offer, payer))
        expect(await own.post('/settle', body)).toMatchObject({ success: true })
      }
      const isFinalized = async ({ challengeNonce }: ChallengeOffer) => {
        const { payment } = (await own.admin(`/payments/${challengeNonce}`)) as {
          payment: { phase: string }
        }
        return payment.phase === 'finalized'
      }
      await until(async () => (await Promise.all(offers.map(isFinalized))).every(Boolean))
      const minted = offers.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
      expect(await net.balanceOf(splitter)).toBe(minted)

      const data = encodeFunctionData({ abi: feeSplitterAbi, functionName: 'distribute' })
      await net.transact(payer, { to: splitter, data })
      const { toProvider, toFeeRecipient } = splitOf(minted, terms)
      expect(await net.balanceOf(seller.address)).toBe(toProvider)
      expect(await net.balanceOf(recipient.address)).toBe(toFeeRecipient)
      // 1001 and 2999 with fees of 34 and 100: the seller has its prices, and the unit that rounding left.
      expect([toProvider, toFeeRecipient]).toEqual([4_001n, 133n])
    } finally {
      await own.close()
    }
  })
})
