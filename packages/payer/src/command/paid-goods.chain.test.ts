/** What was paid for is never lost: `svc-pay` beside a chain, with sellers and disks that fail. */
import { lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Headers, type Json } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Behaviour, startHostileSeller } from '../../test/hostile-seller.js'
import { startNetwork, type TestNetwork } from '../../test/network.js'
import { randomHex } from '../../test/offers.js'
import { type Step, startPaywall } from '../../test/paywall.js'
import { createSvcPay } from '../../test/svc-pay.js'

let net: TestNetwork
let state: string
let run: ReturnType<typeof createSvcPay>
const closers: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  net = await startNetwork()
})
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'svc-pay-goods-'))
  run = createSvcPay(net, state)
  closers.push(() => rm(state, { recursive: true, force: true }))
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await net.chain.resumeMining()
})
afterAll(() => net.close())

async function paywall(steps: Step[] = []) {
  const seller = await startPaywall(net, { steps })
  closers.push(seller.close)
  return seller
}

/** A seller that demands an ordinary payment, and does this with the first, the second and so on. */
async function taking(...behaviours: Behaviour[]) {
  let paid = 0
  const seller = await startHostileSeller(net, (exchange) => {
    if (!exchange.isPaid) return exchange.demand(exchange.offer())
    const behave = behaviours[Math.min(paid, behaviours.length - 1)]
    paid += 1
    return behave?.(exchange)
  })
  closers.push(seller.close)
  const presented = () =>
    seller.requests
      .map(({ headers }) => headers['payment-signature'])
      .filter((header) => header !== undefined)
  return { url: seller.url, presented }
}

const receipt = () =>
  Headers.encode({
    network: net.network,
    success: true,
    transaction: randomHex(32),
    extra: { phase: 'accepted' },
  })

const serves: Behaviour = ({ response }) =>
  response.writeHead(200, { [Headers.paymentResponse]: receipt() }).end('the whole answer')

/** Sends a part of the answer, and cuts the connection. */
const breaksOff: Behaviour = ({ response, request }) => {
  response.writeHead(200, { [Headers.paymentResponse]: receipt(), 'content-length': '16' })
  response.write('the who', () => request.socket.destroy())
}

const until = async (holds: () => boolean | Promise<boolean>) => {
  while (!(await holds())) await systemClock.sleep(20)
}

describe('the exit code of a payment that was presented', () => {
  it.each<[string, number, Behaviour]>([
    ['a 402 with a receipt', 6, ({ settle }) => settle(402, { success: true })],
    ['a 500 with a receipt', 6, ({ settle }) => settle(500, { success: true })],
    ['a 503 with a receipt', 6, ({ settle }) => settle(503, { success: true })],
    ['a redirect', 6, ({ response }) => response.writeHead(302, { location: '/elsewhere' }).end()],
    ['a broken connection', 6, ({ request }) => request.socket.destroy()],
    ['a body that breaks off', 6, breaksOff],
  ])('after %s is %i, and every further try presents the same payment', async (_, code, behave) => {
    const seller = await taking(behave)
    for (let tries = 1; tries <= 3; tries += 1) {
      expect((await run.svcPay(['pay', seller.url])).code).toBe(code)
      expect(seller.presented()).toHaveLength(tries)
    }
    expect(new Set(seller.presented()).size).toBe(1)
    expect((await run.svcPay(['resume'])).code).toBe(code)
    expect(new Set(seller.presented()).size).toBe(1)
  })

  it.each([['pay'], ['resume']])(
    'whose answer was given before is 5 with %s: that is final',
    async (command) => {
      const seller = await taking(
        ({ request }) => request.socket.destroy(),
        ({ settle }) => settle(402, { success: false, errorReason: 'already_accepted' }),
      )
      expect((await run.svcPay(['pay', seller.url])).code).toBe(6)
      const { code, stdout, stderr } = await run.svcPay(command === 'pay' ? ['pay', seller.url] : ['resume'])
      expect([code, stdout + stderr]).toEqual([5, expect.stringContaining('payment_used')])
      expect(new Set(seller.presented()).size).toBe(1)
    },
  )
})

describe('the burn of a payment', () => {
  it('is named when the chain has it', async () => {
    const seller = await paywall()
    const { stderr } = await run.svcPay(['pay', seller.url])
    const [hash] = seller.burns.values()
    expect(stderr).toContain(`burned in ${hash}`)
  })

  it('is not named on the word of a seller: neither an invented one nor the burn of another payment', async () => {
    const honest = await paywall()
    await run.svcPay(['pay', honest.url])
    const [another = ''] = honest.burns.values()
    for (const transaction of [randomHex(32), another]) {
      const seller = await taking(({ settle }) => settle(200, { success: true, transaction }))
      const { code, stderr } = await run.svcPay(['pay', seller.url])
      expect([code, stderr]).toEqual([0, expect.stringContaining('the chain does not show its burn yet')])
      expect(stderr).not.toContain(transaction)
    }
  })
})

describe('a body that breaks off', () => {
  it('is kept as a half, and the whole comes with the same payment', async () => {
    const seller = await taking(breaksOff, serves)
    const first = await run.svcPay(['pay', seller.url])
    expect([first.code, first.stderr]).toEqual([6, expect.stringContaining('7 bytes came')])
    const second = await run.svcPay(['pay', seller.url])
    expect(second).toMatchObject({ code: 0, stdout: 'the whole answer' })
    expect(second.stderr).toMatch(/this was paid before, with 0\.001 zUSD/)
    expect([seller.presented().length, new Set(seller.presented()).size]).toEqual([2, 1])
  })

  it('is given out as a half when the whole cannot come any more', async () => {
    const seller = await taking(breaksOff, ({ settle }) =>
      settle(402, { success: false, errorReason: 'already_accepted' }),
    )
    await run.svcPay(['pay', seller.url])
    const again = await run.svcPay(['pay', seller.url])
    expect([again.code, again.stderr]).toEqual([5, expect.stringContaining('7 bytes of its answer')])
    const { payments } = (await run.svcPayJson(['resume', '--output', join(state, 'answers')])).result
    expect(payments).toMatchObject([{ became: 'half', detail: expect.stringContaining('first 7 bytes') }])
    const [name = ''] = await readdir(join(state, 'answers'))
    expect(name).toMatch(/^0x[0-9a-f]{64}\.half$/)
    expect(await readFile(join(state, 'answers', name), 'utf8')).toBe('the who')
  })
})

describe('an output that cannot be written', () => {
  it.each([
    ['is a folder', (path: string) => mkdir(path)],
    ['is in a folder that does not exist', async () => undefined, 'missing'],
    ['is in a file', (path: string) => writeFile(path, ''), 'inside'],
  ])('that %s is refused before anything is paid', async (_, prepare, below?: string) => {
    const seller = await paywall()
    const path = join(state, 'out')
    await prepare(path)
    const output = below === undefined ? path : join(path, below)
    const { code, stderr } = await run.svcPay(['pay', seller.url, '-o', output])
    expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be written')])
    expect(seller.presented).toHaveLength(0)
  })

  it('of resume is refused before a payment is presented', async () => {
    const seller = await paywall(['break'])
    expect((await run.svcPay(['pay', seller.url])).code).toBe(6)
    await writeFile(join(state, 'answers'), 'a file')
    expect((await run.svcPay(['resume', '--output', join(state, 'answers')])).code).toBe(2)
    expect(seller.presented).toHaveLength(1)
    const elsewhere = ['resume', '--output', join(state, 'elsewhere')]
    expect((await run.svcPayJson(elsewhere)).result.payments).toMatchObject([{ became: 'served' }])
  })

  it('when the answer is there leaves it kept, for the same request or for resume', async () => {
    const folder = join(state, 'goes')
    const seller = await taking(async (exchange) => {
      await rm(folder, { recursive: true })
      return serves(exchange)
    })
    await mkdir(folder)
    const { code, stderr } = await run.svcPay(['pay', seller.url, '-o', join(folder, 'answer')])
    expect([code, stderr]).toEqual([6, expect.stringContaining('answer_kept')])
    const again = await run.svcPay(['pay', seller.url])
    expect(again).toMatchObject({ code: 0, stdout: 'the whole answer' })
    expect(seller.presented()).toHaveLength(1)
    expect((await run.svcPayJson(['resume'])).result.payments).toEqual([])
  })
})

describe('R-098 an answer takes the place of a link, and is not written through it', () => {
  const totals = () => join(state, 'state', 'spending', '999.json')
  const isWritten = (path: string) => lstat(path).then((there) => there.isFile())

  it('by pay, where the link appears while the payment is at its seller', async () => {
    const output = join(state, 'report.json')
    const seller = await taking(async (exchange) => {
      await symlink(totals(), output)
      return serves(exchange)
    })
    expect((await run.svcPay(['pay', seller.url, '-o', output])).code).toBe(0)
    expect(await readFile(output, 'utf8')).toBe('the whole answer')
    expect([await isWritten(output), await readdir(join(state, 'state', 'spending'))]).toEqual([
      true,
      expect.not.arrayContaining(['999.json']),
    ])
  })

  it('by pay, where its folder becomes a link into the state folder while the payment is at its seller', async () => {
    const folder = join(state, 'out')
    const seller = await taking(async (exchange) => {
      await rename(folder, `${folder}-away`)
      await symlink(join(totals(), '..'), folder)
      return serves(exchange)
    })
    await mkdir(folder)
    const { code, stderr } = await run.svcPay(['pay', seller.url, '-o', join(folder, '999.json')])
    expect([code, stderr]).toEqual([6, expect.stringContaining('answer_kept')])
    for (const name of await readdir(join(totals(), '..'))) expect(name).toMatch(/^[1-9]\d?\.json$/)
    expect(await run.svcPay(['pay', seller.url])).toMatchObject({ code: 0, stdout: 'the whole answer' })
    expect(seller.presented()).toHaveLength(1)
  })

  it('by pay, where its folder is a link that is moved meanwhile: the answer goes where it led', async () => {
    const [folder, real] = [join(state, 'out'), join(state, 'real')]
    const seller = await taking(async (exchange) => {
      await rm(folder)
      await symlink(join(totals(), '..'), folder)
      return serves(exchange)
    })
    await mkdir(real)
    await symlink(real, folder)
    expect((await run.svcPay(['pay', seller.url, '-o', join(folder, '999.json')])).code).toBe(0)
    expect(await readFile(join(real, '999.json'), 'utf8')).toBe('the whole answer')
  })

  it.each([
    ['body', serves],
    ['half', breaksOff],
  ])('by resume, which knows the name of a %s beforehand', async (kind, behave) => {
    const folder = join(state, 'answers')
    const isOver: Behaviour = ({ settle }) => settle(402, { success: false, errorReason: 'already_accepted' })
    const breaks: Behaviour = ({ request }) => request.socket.destroy()
    // A half is given out once nothing more can come for it.
    const seller = await (kind === 'half' ? taking(behave, isOver) : taking(breaks, behave))
    expect((await run.svcPay(['pay', seller.url])).code).toBe(6)
    const [nonce] = (await readdir(join(state, 'state', 'payments'))).filter((name) => name.startsWith('0x'))
    const output = join(folder, `${nonce}.${kind}`)
    await mkdir(folder)
    await symlink(totals(), output)
    await run.svcPay(['resume', '--output', folder])
    expect([await isWritten(output), await readdir(join(state, 'state', 'spending'))]).toEqual([
      true,
      expect.not.arrayContaining(['999.json']),
    ])
  })
})

it('an answer too large for JSON waits for resume', async () => {
  const body = 'x'.repeat(1_100_000)
  const seller = await taking(({ response }) =>
    response.writeHead(200, { [Headers.paymentResponse]: receipt() }).end(body),
  )
  const { result } = await run.svcPayJson(['pay', seller.url])
  expect(result).toMatchObject({ bytes: body.length, bodyLeftOut: expect.stringContaining('svc-pay resume') })
  const folder = join(state, 'answers')
  const [payment] = (await run.svcPayJson(['resume', '--output', folder])).result.payments
  expect(payment).toMatchObject({ became: 'served' })
  expect(await readFile(join(folder, `${payment.challengeNonce}.body`), 'utf8')).toBe(body)
  expect(seller.presented()).toHaveLength(1)
})

it('a state folder that fails in the middle of a payment costs no answer, and the next try pays nothing', async () => {
  const folder = join(state, 'state')
  const seller = await taking(async (exchange) => {
    await rename(folder, `${folder}-away`)
    await writeFile(folder, 'no folder')
    return serves(exchange)
  }, serves)
  expect(await run.start(['pay', seller.url]).ended).toMatchObject({ code: 0, stdout: 'the whole answer' })
  await rm(folder)
  await rename(`${folder}-away`, folder)
  const { code, stdout } = await run.start(['pay', seller.url]).ended
  expect([code, stdout]).toEqual([0, 'the whole answer'])
  expect([seller.presented().length, new Set(seller.presented()).size]).toEqual([2, 1])
})

describe.each(['SIGTERM', 'SIGINT'] as const)('%s while a payment is on its way', (signal) => {
  it('lets it end by itself, and keeps the answer for the next try', async () => {
    let answer = () => {}
    const told = new Promise<void>((resolve) => (answer = resolve))
    const seller = await paywall([{ after: told }])
    const { child, ended } = run.start(['pay', seller.url])
    await until(() => seller.presented.length === 1)
    child.kill(signal)
    await new Promise<void>((resolve) =>
      child.stderr?.on('data', (text) => /on its way/.test(text) && resolve()),
    )
    answer()
    const { code, stdout, stderr } = await ended
    expect([code, stdout, stderr]).toEqual([6, '', expect.stringContaining('answer_kept')])
    expect(await run.svcPay(['pay', seller.url])).toMatchObject({ code: 0, stdout: 'the resource' })
    expect([seller.presented.length, seller.offers.length]).toEqual([1, 1])
  })
})

it('SIGTERM while a transfer waits for its block lets it end by itself, and keeps the answer for the next try', async () => {
  const seller = await paywall()
  const byTransfer = { SVC_MODE: 'self-transfer' }
  const sent = await net.sentBy(net.payer.address)
  await net.chain.pauseMining()
  const { child, ended } = run.start(['pay', seller.url], byTransfer)
  await until(async () => (await net.sentBy(net.payer.address)) > sent)
  child.kill('SIGTERM')
  const told = new Promise<void>((resolve) =>
    child.stderr?.on('data', (text) => /on its way/.test(text) && resolve()),
  )
  await Promise.race([told, ended])
  await net.chain.resumeMining()
  await net.chain.mine()
  expect(await ended).toMatchObject({ code: 6, stderr: expect.stringContaining('answer_kept') })
  expect(await run.svcPay(['pay', seller.url], byTransfer)).toMatchObject({ code: 0, stdout: 'the resource' })
  expect([seller.presented.length, seller.offers.length]).toEqual([1, 1])
  expect(await net.sentBy(net.payer.address)).toBe(sent + 1)
})

it('resume presents a lost HEAD purchase, which has no body', async () => {
  const seller = await taking(({ request }) => request.socket.destroy(), serves)
  expect((await run.svcPay(['pay', seller.url, '-X', 'HEAD'])).code).toBe(6)
  const { payments } = (await run.svcPayJson(['resume', '--output', join(state, 'answers')])).result
  expect(payments).toMatchObject([{ became: 'served' }])
})

describe('an odd answer', () => {
  const oddly = async (entries: (offer: Json.JsonObject) => unknown[], behave: Behaviour = serves) => {
    const seller = await startHostileSeller(net, (exchange) =>
      exchange.isPaid
        ? behave(exchange)
        : exchange.demand(entries(exchange.offer() as unknown as Json.JsonObject)),
    )
    closers.push(seller.close)
    return seller.url
  }
  const endless = (offer: Json.JsonObject) => ({
    ...offer,
    extra: { ...(offer.extra as object), expiresAt: 9e15, deadline: 9e15 },
  })

  it.each<[string, (offer: Json.JsonObject) => unknown]>([
    ['expires after every calendar', endless],
    ['has no address', (offer) => ({ ...offer, payTo: 7 })],
    ['has a scheme that is an object', (offer) => ({ ...offer, scheme: { toString: 1 } })],
  ])('with an entry that %s leaves the good one beside it', async (_, odd) => {
    const url = await oddly((offer) => [odd(offer), offer])
    for (const command of ['inspect', 'quote', 'pay']) {
      expect((await run.svcPay([command, url])).code).toBe(0)
    }
  })

  it('with nothing but such entries is refused by name', async () => {
    const url = await oddly((offer) => [endless(offer)])
    const { code, stderr } = await run.svcPay(['inspect', url])
    expect([code, stderr]).toEqual([5, expect.stringContaining('offer_malformed')])
  })

  it('of status 999 leaves the payment pending', async () => {
    const url = await oddly(
      (offer) => [offer],
      ({ response }) => response.writeHead(999).end('what'),
    )
    expect((await run.svcPay(['pay', url])).code).toBe(6)
  })
})

it('a purchase with another body gets an answer of its own', async () => {
  const seller = await taking(breaksOff, serves)
  expect((await run.svcPay(['pay', seller.url, '-d', 'one'])).code).toBe(6)
  expect((await run.svcPay(['pay', seller.url, '-d', 'two'])).code).toBe(0)
  expect((await run.svcPay(['pay', seller.url, '-d', 'one'])).code).toBe(0)
  expect([seller.presented().length, new Set(seller.presented()).size]).toEqual([3, 2])
})

it('resume presents what was signed, asks nobody and signs nothing, whatever the limits say by now', async () => {
  const seller = await paywall(['break'])
  expect((await run.svcPay(['pay', seller.url])).code).toBe(6)
  const strict = {
    SVC_APPROVE_ABOVE: '1',
    SVC_APPROVAL_TIMEOUT_MS: '100',
    SVC_MAX_TOTAL: '1',
    SVC_PAYER_PK: undefined,
  }
  const { payments } = (await run.svcPayJson(['resume', '--output', join(state, 'answers')], strict)).result
  expect(payments).toMatchObject([{ became: 'served' }])
  expect(new Set(seller.presented.map(({ header }) => header)).size).toBe(1)
})

it('resume tells what became of payments though the totals cannot be read', async () => {
  const seller = await paywall(['break'])
  expect((await run.svcPay(['pay', seller.url])).code).toBe(6)
  await writeFile(join(state, 'state', 'spending', '999.json'), 'unreadable')
  const { payments } = (await run.svcPayJson(['resume', '--output', join(state, 'answers')])).result
  expect(payments).toMatchObject([{ became: 'served' }])
})

describe('R-093 SVC_TIMEOUT_MS', () => {
  const patience = { SVC_TIMEOUT_MS: '1500' }
  /** Far above the time-out, and below what an unset one or an allowance for payments would take. */
  const muchLater = 20_000

  /** A server that drips its answer, byte by byte, and never ends its head or its body. */
  async function drips(head: string): Promise<string> {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('data', () => {
        socket.write(head)
        const timer = setInterval(() => socket.write('x'), 50)
        socket.on('close', () => clearInterval(timer))
      })
    })
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    closers.push(async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }

  const timed = async (url: string) => {
    const beganMs = systemClock.now()
    const { error, exitCode } = await run.svcPayJson(['pay', url], patience)
    return { code: error.code, detail: error.detail, exitCode, tookMs: systemClock.now() - beganMs }
  }

  it('ends a request whose head never ends, though bytes come all the time', async () => {
    const { code, exitCode, tookMs } = await timed(await drips('HTTP/1.1 200 OK\r\nx-slow: '))
    expect([code, exitCode]).toEqual(['answer_timeout', 5])
    expect(tookMs).toBeGreaterThanOrEqual(1_500)
    expect(tookMs).toBeLessThan(muchLater)
  })

  it('ends a paid request that gets no head, and the payment is pending', async () => {
    const { code, exitCode, tookMs } = await timed((await taking(() => undefined)).url)
    expect([code, exitCode]).toEqual(['payment_unanswered', 6])
    expect(tookMs).toBeLessThan(muchLater)
  })

  it('ends a paid body that stands still, and what came of it is kept', async () => {
    const stops: Behaviour = ({ response }) => response.writeHead(200).write('half')
    const { code, detail, exitCode, tookMs } = await timed((await taking(stops)).url)
    expect([code, exitCode, detail]).toEqual(['answer_half', 6, expect.stringContaining('4 bytes came')])
    expect(tookMs).toBeLessThan(muchLater)
  })

  it('lets a body come that is slow and never stands still', async () => {
    const seller = await taking(async ({ response }) => {
      response.writeHead(200, { [Headers.paymentResponse]: receipt() })
      for (let piece = 0; piece < 5; piece += 1) {
        response.write(`${piece}`)
        await systemClock.sleep(500)
      }
      response.end()
    })
    expect(await run.svcPay(['pay', seller.url], patience)).toMatchObject({ code: 0, stdout: '01234' })
  })
})
