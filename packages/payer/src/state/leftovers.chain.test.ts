/** What a killed process reserved and did not sign, met by processes with their own limits. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { developmentRoles } from '@svc-zerc20/devnet'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { countSignatures } from '../../test/counting-account.js'
import { startHostileSeller } from '../../test/hostile-seller.js'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import { randomHex } from '../../test/offers.js'
import { resume } from '../command/resume.js'
import { type CreatePayerOptions, createPayer, type PayOptions } from '../index.js'
import { defaultLimits } from '../limits.js'
import { assemblePayer } from '../payer/assemble-payer.js'
import { partsFromEnvironment } from '../payer/payer-from-environment.js'
import { openState } from './open-state.js'

const script = fileURLToPath(new URL('../../test/racing-payer.mjs', import.meta.url))
const amount = '900000'

let net: TestNetwork
beforeAll(async () => {
  net = await startNetwork()
})
afterAll(() => net.close())

describe.each(['permit', 'self-transfer'] as const)('room that a killed process left, by %s', (mode) => {
  let left: string
  let state: string
  let seller: Awaited<ReturnType<typeof startHostileSeller>>
  let offer: unknown

  const loose = (): CreatePayerOptions => ({
    account: net.payer,
    rpcUrl: net.rpcUrl,
    network: net.network,
    state,
    mode,
    allowedHosts: ['127.0.0.1'],
    allowedTokens: [net.token],
    maxAmountPerPayment: 'unlimited',
    maxTotal: 'unlimited',
  })

  beforeAll(async () => {
    const fixed = { amount, payTo: randomHex(20), extra: { challengeNonce: randomHex(32) } }
    seller = await startHostileSeller(net, ({ isPaid, settle, demand, offer: make }) => {
      offer ??= make(fixed)
      return isPaid ? settle(200, { success: true, transaction: randomHex(32) }) : demand(offer)
    })
    left = await mkdtemp(join(tmpdir(), 'svc-pay-left-'))
    state = left
    const { account: _, ...options } = loose()
    const { privateKey } = developmentRoles.payer
    const given = { ...options, privateKey, url: seller.url, signing: 'when told', approving: 'at once' }
    const child = spawn(process.execPath, [script, JSON.stringify(given)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data') // it is about to sign
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  afterAll(async () => {
    await seller.close()
    await rm(left, { recursive: true, force: true })
  })
  beforeEach(async () => {
    state = await mkdtemp(join(tmpdir(), 'svc-pay-heir-'))
    await cp(left, state, { recursive: true })
    seller.requests.length = 0
  })
  afterEach(() => rm(state, { recursive: true, force: true }))

  const paid = () =>
    seller.requests.filter(({ headers }) => headers['payment-signature'] !== undefined).length
  const reserved = async () => {
    const { totals } = openState({ folder: state, clock: systemClock, limits: defaultLimits })
    return Object.values((await totals.state()).reservations).map((each) => each.amount)
  }

  it('is there', async () => expect(await reserved()).toEqual([amount]))

  it.each<[string, string, Partial<CreatePayerOptions>, PayOptions?]>([
    ['approval', 'not_approved', { approveAbove: '1', approve: async () => false }],
    ['the total', 'total_exceeded', { maxTotal: '1000' }],
    ['the cap of a host', 'host_total_exceeded', { maxPerHost: '1000' }],
    ['the cap of a day', 'day_total_exceeded', { maxPerDay: '1000' }],
    ['the cap of one payment', 'offer_amount', { maxAmountPerPayment: '1000' }],
    ['a cap for this payment alone', 'offer_amount', {}, { max: 10n as never }],
    ['a price that was told', 'offer_changed', {}, { asQuoted: { token: '0x' as never, amount: 10n } }],
  ])('is no permission against %s: nothing is signed, and the room ends', async (_, code, limits, pay) => {
    const { account, signed } = countSignatures(net.payer)
    const payer = createPayer({ ...loose(), ...limits, account })
    await expect(payer.pay(seller.url, undefined, pay)).rejects.toMatchObject({ code })
    expect([signed, paid(), await reserved()]).toEqual([{ typedData: 0, transactions: 0 }, 0, []])
  })

  it('is asked about with the body of the request that meets it', async () => {
    const asked: string[] = []
    const approve = async ({ body }: { readonly body: string }) => {
      asked.push(body)
      return false
    }
    const payer = createPayer({ ...loose(), approveAbove: '1', approve })
    await expect(payer.pay(seller.url)).rejects.toMatchObject({ code: 'not_approved' })
    expect(asked).toEqual(['none'])
  })

  it('counts once against the caps of the process that signs', async () => {
    const { account, signed } = countSignatures(net.payer)
    const caps = { maxTotal: amount, maxPerHost: amount, maxPerDay: amount }
    const { response } = await createPayer({ ...loose(), ...caps, account }).pay(seller.url)
    // The seller only says that it burned a permit, and a receipt is no burn: the chain is asked later.
    expect([response.status, await reserved()]).toEqual([200, mode === 'permit' ? [amount] : []])
    expect(signed).toEqual(
      mode === 'permit' ? { typedData: 2, transactions: 0 } : { typedData: 0, transactions: 1 },
    )
  })

  it('is not signed by resume, which pays for nothing new', async () => {
    const { parts } = partsFromEnvironment({
      SVC_PAYER_PK: developmentRoles.payer.privateKey,
      SVC_RPC_URL: net.rpcUrl,
      SVC_STATE_DIR: state,
      SVC_MODE: mode,
    })
    const { account, signed } = countSignatures(net.payer)
    const { result, exitCode } = await resume(
      assemblePayer({ ...parts, account }),
      join(state, 'answers'),
      state,
      process,
    )
    expect(result).toMatchObject({ payments: [{ became: 'over' }], reserved: [] })
    expect([exitCode, signed, paid()]).toEqual([0, { typedData: 0, transactions: 0 }, 0])
  })
})
