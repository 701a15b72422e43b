/** Two real processes that a seller offers the same challenge. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { developmentRoles } from '@svc-zerc20/devnet'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startHostileSeller } from '../../test/hostile-seller.js'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import { randomHex } from '../../test/offers.js'
import { defaultLimits } from '../limits.js'
import { openState } from '../state/open-state.js'

const script = fileURLToPath(new URL('../../test/racing-payer.mjs', import.meta.url))

let net: TestNetwork
let state: string
let seller: Awaited<ReturnType<typeof startHostileSeller>>
const children = new Set<ChildProcess>()
beforeAll(async () => {
  net = await startNetwork()
})
afterAll(() => net.close())
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'svc-pay-two-'))
  const fixed = { payTo: randomHex(20), extra: { challengeNonce: randomHex(32) } }
  seller = await startHostileSeller(net, ({ isPaid, settle, demand, offer }) =>
    isPaid ? settle(200, { success: true, transaction: randomHex(32) }) : demand(offerOnce(offer, fixed)),
  )
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
  await seller.close()
  await rm(state, { recursive: true, force: true })
})

let made: unknown
/** The very same offer for everybody who asks. */
function offerOnce<T>(offer: (changes: object) => T, changes: object): T {
  const { payTo } = changes as { payTo: string }
  if ((made as { payTo?: string } | undefined)?.payTo !== payTo) made = offer(changes)
  return made as T
}

type How = 'at once' | 'fails' | 'when told'

/** Starts a process that pays, and reads what it says line by line. */
function startPayer(how: { signing?: How; approving?: How; mode?: string; approveAbove?: string }) {
  const options = {
    signing: 'at once',
    approving: 'at once',
    ...how,
    privateKey: developmentRoles.payer.privateKey,
    rpcUrl: net.rpcUrl,
    network: net.network,
    url: seller.url,
    state,
    allowedHosts: ['127.0.0.1'],
    allowedTokens: [net.token],
    maxAmountPerPayment: '1000',
    maxTotal: '1000',
  }
  const child = spawn(process.execPath, [script, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.add(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    next: async () => JSON.parse((await lines.next()).value ?? '{}') as Record<string, unknown>,
    goOn: () => child.stdin.write('go on\n'),
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

const totals = async () => {
  const spending = await openState({
    folder: state,
    clock: systemClock,
    limits: defaultLimits,
  }).totals.state()
  return {
    reserved: Object.values(spending.reservations).map(({ amount }) => amount),
    spent: Object.values(spending.totals),
  }
}
const paid = () => seller.requests.filter(({ headers }) => headers['payment-signature'] !== undefined).length

/** The seller only says that it burned a permit, and a receipt is no burn: the chain is asked later. */
const counted = (mode: string) =>
  mode === 'permit' ? { reserved: ['1000'], spent: [] } : { reserved: [], spent: ['1000'] }

describe.each(['permit', 'self-transfer'])('two processes that are offered one challenge, by %s', (mode) => {
  it('sign once: the second is refused while the first is at it, and cannot end its reservation', async () => {
    const first = startPayer({ mode, signing: 'when told' })
    expect(await first.next()).toEqual({ is: 'signing' })
    const second = startPayer({ mode, signing: 'fails' })
    expect(await second.next()).toEqual({ code: 'payment_pending' })
    expect(await totals()).toEqual({ reserved: ['1000'], spent: [] })
    first.goOn()
    expect(await first.next()).toEqual({ status: 200 })
    expect(await totals()).toEqual(counted(mode))
    expect(paid()).toBe(1)
  })

  it('pay once when the first was killed while it signed: the second takes over its reservation', async () => {
    const first = startPayer({ mode, signing: 'when told' })
    expect(await first.next()).toEqual({ is: 'signing' })
    await first.kill()
    const second = startPayer({ mode })
    expect(await second.next()).toEqual({ is: 'signing' })
    expect(await second.next()).toEqual({ status: 200 })
    expect(await totals()).toEqual(counted(mode))
    expect(paid()).toBe(1)
  })

  it('ask a human once more when the first was killed while one was asked', async () => {
    const first = startPayer({ mode, approving: 'when told', approveAbove: '1' })
    expect(await first.next()).toEqual({ is: 'approving' })
    await first.kill()
    const second = startPayer({ mode, approveAbove: '1' })
    expect(await second.next()).toEqual({ is: 'approving' })
    expect(await second.next()).toEqual({ is: 'signing' })
    expect(await second.next()).toEqual({ status: 200 })
    expect(await totals()).toEqual(counted(mode))
  })
})
