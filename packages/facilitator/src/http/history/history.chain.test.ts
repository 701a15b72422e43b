/** The history of real payments, read over HTTP by both participants and compared with the chain. */
import { readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { tokenAbi } from '@svc-zerc20/contracts'
import { developmentRoles } from '@svc-zerc20/devnet'
import { parseStatementFile, parseTrustAnchor, verifyStatement } from '@svc-zerc20/statement'
import type { Hex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { movableClock } from '../../../../../test/support/clocks.js'
import { historyEnvironment, issuerEnvironment } from '../../../../../test/support/history-environment.js'
import { until } from '../../../../../test/support/until.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { startOwnFacilitator } from '../../../test/own-facilitator.js'
import { bodyOf, type ChallengeOffer } from '../../../test/payment.js'
import { limits } from '../../config/limits.js'
import { initIssuer, type Written } from '../../history/statements/issuer-files.js'
import { systemRandom } from '../../system.js'

type Payment = {
  challengeNonce: Hex
  phase: string
  accepted?: { value: string }
  late?: { value: string; reason: string }
  payer?: string
  finalizedOn?: string
  finalizedAt?: number
  mint?: { transaction: Hex; value: string }
}
type Sum = { payments: number; amount: string }

const provider = privateKeyToAccount(developmentRoles.provider.privateKey)
const clock = movableClock()
const daysMs = 86_400_000
const seconds = () => Math.floor(clock.now() / 1000)

let net: TestNetwork
let own: Awaited<ReturnType<typeof startOwnFacilitator>>
let issuer: Written
let payer: PrivateKeyAccount
let other: PrivateKeyAccount
/** Nonces by what became of them. */
const paid: Record<'gasless' | 'selfTransfer' | 'late', Hex> = {
  gasless: '0x',
  selfTransfer: '0x',
  late: '0x',
}

async function start() {
  own = await startOwnFacilitator(net, {
    journal: 'history-journal.jsonl',
    clock,
    config: { history: { url: 'http://history.example' } },
    env: {
      ...historyEnvironment(join(net.directory, 'history.jsonl')),
      HISTORY_PAYER_ADDRESS: payer.address,
      HISTORY_PROVIDER_ADDRESS: provider.address,
      ...issuerEnvironment(issuer.files, join(net.directory, 'statements')),
    },
  })
}

beforeAll(async () => {
  // The day of the mints must not end before they are looked at.
  if (new Date(clock.now()).getUTCHours() === 23) clock.advance(3_600_000)
  net = await startNetwork({ finalization: true })
  payer = await net.account({ gas: true })
  other = await net.account({ gas: true })
  issuer = await initIssuer({
    folder: join(net.directory, 'issuer'),
    issuer: 'https://pay.example',
    days: 400,
    now: seconds(),
    random: systemRandom,
  })
  await start()
  await until(async () => ((await own.admin('/status')).addresses as { ready: number }).ready > 2)
})
afterAll(async () => {
  await own?.close()
  await net?.close()
})

/** Tokens outlive a restart, and end when the clock is moved by more than 15 minutes. */
const tokens = new Map<string, string>()

async function login(account: PrivateKeyAccount): Promise<string> {
  const { message } = await own.post('/history/login/challenge', { address: account.address })
  const signature = await account.signMessage({ message: message as string })
  return (await own.post('/history/login', { message, signature })).token as string
}

/** Asks as the participant whose wallet this is. */
async function ask(account: PrivateKeyAccount, path: string, method = 'GET', body?: object): Promise<string> {
  const token = tokens.get(account.address) ?? (await login(account))
  tokens.set(account.address, token)
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
  const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  const response = await fetch(`${own.url}/history${path}`, sent)
  expect(response.status, path).toBe(200)
  return response.text()
}
const askJson = async <T>(account: PrivateKeyAccount, path: string) =>
  JSON.parse(await ask(account, path)) as T
const listOf = async (account: PrivateKeyAccount, query = '') =>
  (await askJson<{ payments: Payment[] }>(account, `/payments?${query}`)).payments
const totalsOf = (account: PrivateKeyAccount) => askJson<Record<string, Sum>>(account, '/totals')

/** The transfers of an account to these burn addresses, by the events of the token. */
async function burned(from: PrivateKeyAccount, offers: readonly ChallengeOffer[]): Promise<bigint> {
  const events = await net.client.getContractEvents({
    address: net.deployment.token,
    abi: tokenAbi,
    eventName: 'Transfer',
    args: { from: from.address, to: offers.map(({ payTo }) => payTo) },
    fromBlock: 0n,
  })
  return events.reduce((sum, { args }) => sum + (args.value ?? 0n), 0n)
}

describe('R-125 payments by permit, by self-transfer and too late', () => {
  const offers: ChallengeOffer[] = []

  it('are in the history of their payer and of the provider, as they are on the chain', async () => {
    const gasless = await own.challenge('1000')
    await own.post('/settle', bodyOf(gasless, await net.permitFor(gasless, payer)))
    const selfTransfer = await own.challenge('2500')
    const burnTxHash = await net.transfer(other, selfTransfer.payTo, '2500')
    await own.post('/settle', { challengeNonce: selfTransfer.challengeNonce, burnTxHash })
    const late = await own.challenge('700')
    const lateTxHash = await net.transfer(payer, late.payTo, '700')
    // Past the expiry, and past the time in which a seller may bring what it saw before.
    clock.advance(901_000)
    await own.post('/settle', { challengeNonce: late.challengeNonce, burnTxHash: lateTxHash })
    offers.push(gasless, selfTransfer, late)
    paid.gasless = gasless.challengeNonce
    paid.selfTransfer = selfTransfer.challengeNonce
    paid.late = late.challengeNonce

    const mine = await listOf(payer)
    expect(mine.map(({ challengeNonce }) => challengeNonce)).toEqual([paid.late, paid.gasless])
    expect(mine[0]).toMatchObject({ phase: 'late', late: { value: '700', reason: 'late' } })
    expect(mine[1]).toMatchObject({ phase: 'accepted', accepted: { value: '1000' }, payer: payer.address })
    const { accepted, late: lateSum } = await totalsOf(payer)
    expect(BigInt(accepted?.amount ?? 0) + BigInt(lateSum?.amount ?? 0)).toBe(await burned(payer, offers))

    const theirs = await listOf(provider)
    expect(theirs.map(({ challengeNonce }) => challengeNonce).sort()).toEqual(Object.values(paid).sort())
    const all = await totalsOf(provider)
    const everything = (await burned(payer, offers)) + (await burned(other, offers))
    expect(BigInt(all.accepted?.amount ?? 0) + BigInt(all.late?.amount ?? 0)).toBe(everything)
    const text = (await ask(provider, '/export')) + (await ask(provider, '/export?format=csv'))
    for (const { address } of [payer, other]) expect(text).not.toContain(address)
  })

  it('are the same after a restart that finds no file, and one stays disclosed', async () => {
    await ask(payer, `/payments/${paid.gasless}/disclose`, 'POST')
    const questions = ['/payments', '/export?format=csv', `/payments/${paid.gasless}`]
    // The first mint may come at any time, and only the provider is told.
    const withoutMint = ({ phase, finalizedOn, finalizedAt, mint, ...rest }: Payment) => rest
    const answers = async () => [
      (await listOf(provider)).map(withoutMint),
      ...(await Promise.all(questions.map((path) => ask(payer, path)))),
    ]
    const before = await answers()
    await own.close()
    rmSync(join(net.directory, 'history.jsonl'))
    await start()
    expect(await answers()).toEqual(before)
    const named = (await listOf(provider)).filter((payment) => payment.payer !== undefined)
    expect(named).toMatchObject([{ challengeNonce: paid.gasless, payer: payer.address }])
  })

  it('are finalized for the provider at once and for their payer on the next day, and the sums are those of the chain', async () => {
    await until(
      async () => {
        await net.chain.mine()
        const { finalized } = await totalsOf(provider)
        return finalized?.payments === 3
      },
      { everyMs: 500 },
    )
    const { finalized } = await totalsOf(provider)
    const minted = await net.balanceOf(provider.address)
    expect(BigInt(finalized?.amount ?? 0)).toBe(minted)
    expect(minted).toBe(4200n)
    for (const { challengeNonce, mint } of await listOf(provider, 'phase=finalized')) {
      const receipt = await net.client.getTransactionReceipt({ hash: mint?.transaction ?? '0x' })
      expect(receipt.status, challengeNonce).toBe('success')
    }

    const told = (await listOf(payer)).map(({ phase }) => phase)
    expect(told).toEqual(['late', 'accepted'])
    expect(await listOf(payer, 'phase=finalized')).toEqual([])
    expect(await ask(payer, `/payments/${paid.gasless}`)).not.toContain('finalized')
    const day = new Date(clock.now() + daysMs).toISOString().slice(0, 10)
    clock.advance(2 * daysMs)
    tokens.clear()
    const known = await listOf(payer, 'phase=finalized')
    expect(known.map(({ finalizedOn }) => finalizedOn)).toEqual([day, day])
    const text = (await ask(payer, '/export')) + (await ask(payer, '/export?format=csv'))
    expect(text.toLowerCase()).not.toContain(provider.address.toLowerCase())
    for (const { mint } of await listOf(provider)) expect(text).not.toContain(mint?.transaction)
  })

  it('are proved to whoever has the trust anchor alone, and their mints by a receipt that names none of them', async () => {
    const audience = 'https://auditor.example'
    const trustAnchor = parseTrustAnchor(readFileSync(issuer.files.anchor, 'utf8'))
    const proved = async (account: PrivateKeyAccount, path: string, more: object = {}) => {
      const text = await ask(account, path, 'POST', { audience, nonce: 'n-1', ...more })
      const { statement, manifest = '', revocations = '' } = parseStatementFile(text)
      const papers = { manifests: [manifest], revocations: [revocations] }
      const verdict = await verifyStatement(statement, {
        trustAnchor,
        ...papers,
        now: seconds(),
        audience,
        nonce: 'n-1',
      })
      if (!verdict.ok) throw new Error(verdict.message)
      const parts = statement.split(/[.~]/).map((part) => Buffer.from(part, 'base64url').toString('latin1'))
      return { claims: verdict.statement.claims, text: parts.join('\n').toLowerCase() }
    }
    const payment = await proved(payer, `/payments/${paid.gasless}/statement`)
    expect(payment.claims).toMatchObject({
      outcome: 'accepted',
      value: '1000',
      payer: payer.address.toLowerCase(),
    })
    const receipt = await proved(payer, `/payments/${paid.gasless}/receipt`)
    const { burnTransaction, leafIndex, finalizedOn } = receipt.claims
    const onChain = await net.client.getTransactionReceipt({ hash: burnTransaction as Hex })
    expect(onChain.status).toBe('success')
    expect([leafIndex, finalizedOn]).toEqual([expect.stringMatching(/^\d+$/), payment.claims.finalizedOn])
    const end = seconds()
    clock.advance(limits.periodRestSeconds * 1000)
    const total = await proved(provider, '/totals/statement', { since: 0, until: end })
    expect(total.claims).toMatchObject({ accepted: '3500', late: '700', finalized: '4200' })
    for (const { mint } of await listOf(provider)) {
      for (const { text } of [payment, receipt]) {
        expect(text).not.toContain(mint?.transaction)
        expect(text).not.toContain(provider.address.slice(2).toLowerCase())
      }
    }
  })
})

it('a file that cannot be written is told, stops no payment, and catches up by itself', async () => {
  const path = join(net.directory, 'history.jsonl')
  const failedGauge = async () => {
    const headers = { authorization: `Bearer ${net.adminToken}` }
    const text = await (await fetch(`${own.url}/admin/metrics`, { headers })).text()
    return /^svc_history_failed (\d)$/m.exec(text)?.[1]
  }
  // The tests before have moved this clock away from the chain's, and a daemon with such a clock is not ready.
  clock.advance(Date.now() - clock.now())
  await until(async () => (await fetch(`${own.url}/ready`)).status === 200)
  renameSync(path, `${path}.away`)
  const { challengeNonce } = await own.challenge('1')
  await until(async () => (await failedGauge()) === '1')
  expect((await fetch(`${own.url}/ready`)).status).toBe(200)
  expect(await own.admin('/status')).toMatchObject({ history: { failed: true } })
  expect(own.reported('history.failed').length).toBeGreaterThan(0)
  renameSync(`${path}.away`, path)
  await until(async () => (await failedGauge()) === '0')
  expect(readFileSync(path, 'utf8')).toContain(challengeNonce)
})
