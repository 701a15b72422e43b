/** The paywall in a real browser, on a real chain, with a wallet that has a real key. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Script } from '../interop/support/facilitator-proxy.js'
import { type Interop, startInterop } from '../interop/support/network.js'
import { required } from '../interop/support/wire.js'
import { until } from '../support/until.js'
import { expectAccessible, expectToFit, notRun, openBrowser, openPage } from './support/browser.js'
import { hostile, openPageShop, type PageShop } from './support/shop.js'
import { giveWallet, type TestWallet, walletFor } from './support/wallet.js'

const price = 10_000n
const pageBytesMax = 20_000

describe.skipIf(notRun !== '')(`the paywall in a browser${notRun}`, () => {
  let interop: Interop
  let shop: PageShop
  let browser: Browser
  let wallet: TestWallet
  let opened: Awaited<ReturnType<typeof openPage>>
  let page: Page

  beforeAll(async () => {
    interop = await startInterop()
    shop = await openPageShop(interop)
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await shop?.close()
    await interop?.close()
  })
  beforeEach(async () => {
    interop.proxy.reset()
    wallet = walletFor(interop.payer)
    opened = await openPage(browser)
    page = opened.page
  })
  afterEach(async () => {
    await opened.close()
    expect(opened.faults).toEqual([])
  })

  const title = (text: string | RegExp) => page.getByRole('heading', { name: text }).waitFor()
  const press = (name: string | RegExp) => page.getByRole('button', { name }).click()
  const text = () => page.locator('main').textContent()

  /** Opens a paid route with the wallet at hand. */
  async function open(path: string): Promise<void> {
    await giveWallet(page, wallet, interop.rpcUrl)
    await page.goto(shop.url + path)
  }
  async function pay(): Promise<void> {
    await press('Test Wallet')
    await press(/^Sign and pay/)
  }
  /** What the paying account lost, and how often a handler ran, while something was done. */
  async function cost(doing: () => Promise<unknown>): Promise<{ paid: bigint; served: number }> {
    const { address } = wallet.account
    const before = { balance: await interop.balanceOf(address), served: shop.served() }
    await doing()
    return {
      paid: before.balance - (await interop.balanceOf(address)),
      served: shop.served() - before.served,
    }
  }
  const paidOnce = { paid: price, served: 1 }

  it('is one page of at most 20 KB that loads nothing from elsewhere and forbids everything inline', async () => {
    const response = await fetch(`${shop.url}/json`, { headers: { accept: 'text/html,*/*;q=0.8' } })
    const html = await response.text()
    expect(response.status).toBe(402)
    const { length } = new TextEncoder().encode(html)
    process.stdout.write(`the paywall has ${length} bytes with its style and script\n`)
    expect(length).toBeLessThanOrEqual(pageBytesMax)
    expect(required(response).accepts).toHaveLength(1)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/)
    expect(policy).not.toContain('unsafe')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    await open('/json')
    await title('Pay with your wallet')
    expect([...opened.hosts]).toEqual([new URL(shop.url).host])
    await expectAccessible(page)
    await expectToFit(page)
  })

  it('is not for programs: without text/html, or with a payment, the answer is the JSON of before', async () => {
    for (const headers of [{}, { accept: '*/*' }, { accept: 'text/html', 'payment-signature': 'e30=' }]) {
      const response = await fetch(`${shop.url}/json`, { headers })
      expect(response.status).toBe(402)
      expect(response.headers.get('content-type')).toContain('application/json')
      expect(await response.json()).toMatchObject({ reason: 'payment_required' })
      expect(required(response).accepts).toHaveLength(1)
    }
  })

  it('explains itself without JavaScript, with the price and the command', async () => {
    await opened.close()
    opened = await openPage(browser, { javaScriptEnabled: false })
    page = opened.page
    await page.goto(`${shop.url}/json`)
    expect(await text()).toMatch(/Example Weather\s+Tomorrow, hour by hour\s+0\.01 zUSD/)
    expect(await text()).toContain('Without JavaScript')
    expect(await text()).toContain(`svc-pay pay '${shop.url}/json'`)
  })

  it('sells: two signatures in words, the burn, the resource, and the same again after a reload for nothing', async () => {
    const spent = await cost(async () => {
      await open('/json')
      await press('Test Wallet')
      await title('You will sign two things')
      expect(await text()).toMatch(/Permit: the burner contract 0x\S+ may take exactly 0\.01 zUSD, until/)
      expect(await text()).toMatch(/Burn authorization: it may send them to the one-time address 0x/)
      expect(wallet.signed).toEqual([])
      await expectAccessible(page)
      await expectToFit(page)
      await press(/^Sign and pay 0\.01 zUSD/)
      await title('Paid, and yours')
      expect(await page.locator('#goods').textContent()).toContain('"report": "sunny"')
      await expectAccessible(page)
      await page.reload()
      await title('Paid, and yours')
    })
    expect(wallet.signed).toEqual(['Permit', 'BurnAuthorization'])
    expect(spent).toEqual(paidOnce)
  })

  it('buys again only when that is asked for', async () => {
    await open('/json')
    await pay()
    await title('Paid, and yours')
    const spent = await cost(async () => {
      await press('Buy again')
      await title('Pay with your wallet')
      await pay()
      await title('Paid, and yours')
    })
    expect(spent).toEqual(paidOnce)
  })

  it('hands a page to the browser itself, with its own scripts; reload and back button cost nothing', async () => {
    const spent = await cost(async () => {
      await open('/page')
      await pay()
      await page.waitForFunction(() => document.title === 'Bought page, running')
      await page.reload()
      await page.goto(`${shop.url}/free`)
      await page.goBack()
      await title('The whole story')
    })
    expect(page.url()).toBe(`${shop.url}/page`)
    expect(spent).toEqual(paidOnce)
  })

  it('binds its answer key to the path, whatever the address says', async () => {
    await open('/story/one;path=/;max-age=999999')
    await pay()
    await page.waitForFunction(() => document.title === 'Bought page, running')
    const [answerKey, ...others] = await page.context().cookies(page.url())
    expect(others).toEqual([])
    expect(answerKey).toMatchObject({ name: 'svc-paid', path: '/story/', sameSite: 'Strict' })
    expect(Number(answerKey?.expires)).toBeLessThan(Date.now() / 1000 + 601)
    expect(await page.context().cookies(`${shop.url}/page`)).toEqual([])
  })

  it('follows a redirect that was bought', async () => {
    const spent = await cost(async () => {
      await open('/moved')
      await pay()
      await page.waitForURL(`${shop.url}/free`)
    })
    expect(spent).toEqual(paidOnce)
  })

  it('saves a file under its name', async () => {
    await open('/file')
    const download = page.waitForEvent('download')
    await pay()
    expect((await download).suggestedFilename()).toBe('weather.csv')
    await title('Paid, and yours')
  })

  it('sells behind the official route table, where a page is saved instead of opened', async () => {
    const body = JSON.stringify({ isValid: false, invalidReason: 'permit_nonce_stale' })
    interop.proxy.meet('/verify', async () => ({ status: 200, headers: {}, body }))
    const spent = await cost(async () => {
      await open('/table')
      expect(await text()).toMatch(/Example Table\s+By the table\s+10000 base units/)
      await pay()
      await title('The payment was refused')
      expect(await text()).toContain('permit_nonce_stale: ')
      await press('New offer')
      await pay()
      await title('Paid, and yours')
      expect(await page.locator('#goods').textContent()).toContain('cloudy')
    })
    expect(spent.paid).toBe(price)
    await page.goto(`${shop.url}/table-page`)
    const download = page.waitForEvent('download')
    await pay()
    expect((await download).suggestedFilename()).toMatch(/^table-page/)
  })

  it('opens nothing to whoever made an answer key up', async () => {
    const cookie = `svc-paid=${'A'.repeat(43)}`
    expect((await fetch(`${shop.url}/page`, { headers: { cookie } })).status).toBe(402)
  })

  describe('when something is in the way', () => {
    /** Pays while the facilitator gives this answer only, until the page has told so. */
    async function payMeanwhile(
      path: string,
      answer: Awaited<ReturnType<Script>>,
      told: string,
    ): Promise<void> {
      let isInTheWay = true
      interop.proxy.meet(path, ({ forward }) => (isInTheWay ? Promise.resolve(answer) : forward()), 1_000)
      await open('/json')
      await pay()
      await page.getByText(told).waitFor()
      isInTheWay = false
      await title('Paid, and yours')
    }

    it('no wallet: says how to get one, and shows the command', async () => {
      await page.goto(`${shop.url}/json`)
      await title('No wallet found in this browser')
      expect(await text()).toContain(`svc-pay pay '${shop.url}/json'`)
      await expectAccessible(page)
    })

    it('wrong network: switches, or says which network to add', async () => {
      wallet.chainId = 1
      wallet.knowsChain = false
      await open('/json')
      await press('Test Wallet')
      await title('Test Wallet is on another network')
      await press('Switch network')
      await title('Unknown network')
      expect(await text()).toContain('chain id 31337')
      wallet.knowsChain = true
      await press('Try again')
      await title('You will sign two things')
    })

    it('no tokens: says how many are missing, and goes on when they are there', async () => {
      wallet.account = await interop.anotherPayer(3, 4_000n)
      await open('/json')
      await press('Test Wallet')
      await title('Not enough tokens')
      expect(await text()).toContain('This account has 0.004 zUSD; 0.006 zUSD are missing')
      await expectAccessible(page)
      await interop.faucet.mintTokens(wallet.account.address, 6_000n)
      const spent = await cost(async () => {
        await press('Check again')
        await press(/^Sign and pay/)
        await title('Paid, and yours')
      })
      expect(spent).toEqual(paidOnce)
    })

    it.each([
      ['the connection', 'eth_requestAccounts', []],
      ['the first signature', 'Permit', []],
      ['the second signature', 'BurnAuthorization', ['Permit']],
    ])('%s is declined: nothing is paid, and nothing is asked twice', async (_, declined, signed) => {
      wallet.declines = [declined]
      await open('/json')
      await press('Test Wallet')
      if (declined !== 'eth_requestAccounts') await press(/^Sign and pay/)
      await title('You declined')
      expect(await text()).toContain('Nothing was paid.')
      expect(wallet.signed).toEqual(signed)
      const spent = await cost(async () => {
        await press('Try again')
        if (declined === 'eth_requestAccounts') await press(/^Sign and pay/)
        await title('Paid, and yours')
      })
      expect(spent).toEqual(paidOnce)
      expect(wallet.signed).toEqual(['Permit', 'BurnAuthorization'])
    })

    it('an offer that ended before the signatures is renewed', async () => {
      await page.clock.install()
      await open('/json')
      await title('Pay with your wallet')
      const challenges = () => interop.proxy.paths().filter((path) => path === '/challenge').length
      expect(challenges()).toBe(1)
      await page.clock.fastForward(299_000)
      const spent = await cost(async () => {
        await pay()
        await title('Paid, and yours')
      })
      expect(challenges()).toBe(2)
      expect(spent).toEqual(paidOnce)
    })

    it('a new offer at another price is not paid before it was agreed to', async () => {
      await page.clock.install()
      await open('/json')
      await title('Pay with your wallet')
      await page.clock.fastForward(299_000)
      shop.setPrice('20000')
      await press('Test Wallet')
      await title('The price has changed')
      shop.setPrice('10000')
      expect(await text()).toContain('It is 0.02 zUSD now.')
      await press('Go on')
      await page.getByRole('button', { name: 'Sign and pay 0.02 zUSD' }).waitFor()
      expect(wallet.signed).toEqual([])
    })

    it('an account that is a contract: says to choose another, and pays nothing', async () => {
      wallet.signature = `0x${'12'.repeat(200)}`
      await open('/json')
      await pay()
      await title('This account cannot pay here')
      expect(interop.proxy.paths()).toEqual(['/challenge'])
    })

    it('a wallet that does not announce itself is found in the window', async () => {
      wallet.isOld = true
      await open('/json')
      await press('your wallet')
      await title('You will sign two things')
    })

    it('an offer that ended before it was presented costs nothing, and a new one is there', async () => {
      const body = JSON.stringify({ isValid: false, invalidReason: 'challenge_expired' })
      interop.proxy.meet('/verify', async () => ({ status: 200, headers: {}, body }))
      const spent = await cost(async () => {
        await open('/json')
        await pay()
        await title('The offer has ended')
        await expectAccessible(page)
        await press('New offer')
        await pay()
        await title('Paid, and yours')
      })
      expect(spent).toEqual(paidOnce)
    })

    it('a pending burn: the same payment is presented again by itself, and burned once', async () => {
      const pending = {
        success: false,
        errorReason: 'pending_burn',
        transaction: '0xabc',
        network: 'eip155:31337',
      }
      const body = JSON.stringify(pending)
      const spent = await cost(() =>
        payMeanwhile('/settle', { status: 200, headers: {}, body }, 'Burn transaction 0xabc'),
      )
      expect(spent.paid).toBe(price)
      expect(wallet.signed).toHaveLength(2)
    })

    it('the facilitator is away at the start: a page says so, and the next try gets an offer', async () => {
      interop.proxy.meet('/challenge', async () => 'drop')
      await open('/json')
      await title('Not available right now')
      await expectAccessible(page)
      await page.getByRole('link', { name: 'Try again' }).click()
      await title('Pay with your wallet')
    })

    it('the facilitator is away after the signatures: the payment is kept and presented again', async () => {
      const spent = await cost(() => payMeanwhile('/verify', 'drop', 'gave no answer to verify'))
      expect(spent.paid).toBe(price)
      expect(wallet.signed).toHaveLength(2)
    })

    it('an answer that stays away: a person is asked to ask again, and the payment is still there after a reload', async () => {
      let isAway = true
      interop.proxy.meet('/verify', ({ forward }) => (isAway ? Promise.resolve('drop') : forward()), 1_000)
      await page.clock.install()
      await open('/json')
      await pay()
      const asked = page.getByRole('button', { name: 'Ask again' })
      await until(async () => {
        await page.clock.fastForward(30_000)
        return asked.isVisible()
      })
      expect(await text()).toContain('Do not pay a second time.')
      await expectAccessible(page)
      isAway = false
      // Even where the reload itself gets no offer.
      interop.proxy.meet('/challenge', async () => 'drop')
      const spent = await cost(async () => {
        await page.reload()
        await title('Paid, and yours')
      })
      expect(spent).toEqual(paidOnce)
      expect(wallet.signed).toHaveLength(2)
    })

    /** Lets no burn begin until it is released. */
    function holdBurn(): () => void {
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      interop.proxy.meet('/settle', async ({ forward }) => {
        await held
        return forward()
      })
      return release
    }

    it('another tab does not pay for the same while one pays, and may afterwards', async () => {
      const release = holdBurn()
      await open('/json')
      const other = await page.context().newPage()
      const spent = await cost(async () => {
        await pay()
        await title('Burning your tokens')
        await giveWallet(other, wallet, interop.rpcUrl)
        await other.goto(`${shop.url}/json`)
        await other.getByRole('button', { name: 'Test Wallet' }).click()
        await other.getByRole('heading', { name: 'Another tab is paying for this' }).waitFor()
        release()
        await title('Paid, and yours')
      })
      expect(spent).toEqual(paidOnce)
      await other.getByRole('button', { name: 'Try again' }).click()
      await other.getByRole('heading', { name: 'You will sign two things' }).waitFor()
    })

    it('two tabs that were about to sign do not both pay: the first signature decides', async () => {
      let answer = () => {}
      wallet.patience = new Promise<void>((resolve) => {
        answer = resolve
      })
      await open('/json')
      const other = await page.context().newPage()
      const spent = await cost(async () => {
        await press('Test Wallet')
        await title('You will sign two things')
        await giveWallet(other, wallet, interop.rpcUrl)
        await other.goto(`${shop.url}/json`)
        await other.getByRole('button', { name: 'Test Wallet' }).click()
        await other.getByRole('heading', { name: 'You will sign two things' }).waitFor()
        await press(/^Sign and pay/)
        await title('Signature 1 of 2')
        await other.getByRole('button', { name: /^Sign and pay/ }).click()
        await other.getByRole('heading', { name: 'Another tab is paying for this' }).waitFor()
        answer()
        await title('Paid, and yours')
      })
      expect(spent).toEqual(paidOnce)
      expect(wallet.signed).toEqual(['Permit', 'BurnAuthorization'])
    })

    it('a tab whose person declined lets another one pay', async () => {
      wallet.declines = ['Permit']
      await open('/json')
      await pay()
      await title('You declined')
      const other = await page.context().newPage()
      await giveWallet(other, wallet, interop.rpcUrl)
      await other.goto(`${shop.url}/json`)
      const spent = await cost(async () => {
        await other.getByRole('button', { name: 'Test Wallet' }).click()
        await other.getByRole('button', { name: /^Sign and pay/ }).click()
        await other.getByRole('heading', { name: 'Paid, and yours' }).waitFor()
      })
      expect(spent).toEqual(paidOnce)
    })

    it('of two wallets the chosen one pays', async () => {
      const rich = walletFor(await interop.anotherPayer(4, price))
      rich.name = 'Second Wallet'
      await giveWallet(page, rich, interop.rpcUrl)
      await open('/json')
      await press('Second Wallet')
      expect(await cost(async () => title('You will sign two things'))).toEqual({ paid: 0n, served: 0 })
      await press(/^Sign and pay/)
      await title('Paid, and yours')
      expect(await interop.balanceOf(rich.account.address)).toBe(0n)
      expect([rich.signed.length, wallet.signed.length]).toEqual([2, 0])
    })

    it('a wallet that shows no account: says so, and goes on when it is unlocked', async () => {
      wallet.isLocked = true
      await open('/json')
      await press('Test Wallet')
      await title('Test Wallet reports a problem')
      expect(await text()).toContain('It shows no account.')
      wallet.isLocked = false
      await press('Try again')
      await title('You will sign two things')
    })

    it('a network of the same number without the token: says so, and asks nobody for money', async () => {
      // What a node says of an address without code.
      const empty = createServer((_, response) => response.end('{"jsonrpc":"2.0","id":1,"result":"0x"}'))
      await once(empty.listen(0, '127.0.0.1'), 'listening')
      try {
        const { port } = empty.address() as AddressInfo
        await giveWallet(page, wallet, `http://127.0.0.1:${port}`)
        await page.goto(`${shop.url}/json`)
        await press('Test Wallet')
        await title('Test Wallet reports a problem')
        expect(await text()).toContain(`On its network is no token ${interop.token}`)
        expect(await page.locator('#price').textContent()).toBe('0.01 zUSD')
      } finally {
        empty.close()
      }
    })

    it('a wallet that changes its account between the look and the signatures pays nothing', async () => {
      wallet.signsAs = await interop.anotherPayer(5, price)
      const spent = await cost(async () => {
        await open('/json')
        await pay()
        await title('The payment was refused')
        expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
      })
      expect(spent).toEqual({ paid: 0n, served: 0 })
      delete wallet.signsAs
      await press('New offer')
      const next = await cost(async () => {
        await pay()
        await title('Paid, and yours')
      })
      expect(next).toEqual(paidOnce)
    })

    it('a wallet that answers after the offer has ended pays nothing', async () => {
      let answer = () => {}
      wallet.patience = new Promise<void>((resolve) => {
        answer = resolve
      })
      const spent = await cost(async () => {
        await open('/json')
        await pay()
        await title('Signature 1 of 2')
        const body = JSON.stringify({ isValid: false, invalidReason: 'deadline_passed' })
        interop.proxy.meet('/verify', async () => ({ status: 200, headers: {}, body }))
        answer()
        await title('The offer has ended')
      })
      expect(spent).toEqual({ paid: 0n, served: 0 })
    })

    it.each([
      ['a page', '<!doctype html><h1 onclick="pwned=1">Bad gateway</h1><img src=x onerror=pwned=1>'],
      ['megabytes of JSON', JSON.stringify({ error: 'a'.repeat(20_000_000), success: true })],
      ['another shape', '{"success":"yes","transaction":{"a":1},"accepts":null}'],
    ])('a facilitator that answers with %s: the payment is kept, and made once', async (_, body) => {
      const spent = await cost(() =>
        payMeanwhile(
          '/verify',
          { status: 200, headers: { 'content-type': 'text/html' }, body },
          'again by itself',
        ),
      )
      expect(spent.paid).toBe(price)
      expect(await page.evaluate(() => 'pwned' in globalThis)).toBe(false)
    })

    it('a page that the browser kept for the back button looks for a payment that was made since', async () => {
      await open('/json')
      await press('Test Wallet')
      await title('You will sign two things')
      const [key, kept] = await keptElsewhere()
      await page.evaluate(([name = '', value = '']) => sessionStorage.setItem(name, value), [key, kept])
      await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
      await title('Paid, and yours')
      expect(wallet.signed).toEqual(['Permit', 'BurnAuthorization'])
    })

    /** What a tab remembers that has paid. */
    async function keptElsewhere(): Promise<[string, string]> {
      const other = await page.context().newPage()
      await giveWallet(other, wallet, interop.rpcUrl)
      await other.goto(`${shop.url}/json`)
      await other.getByRole('button', { name: 'Test Wallet' }).click()
      await other.getByRole('button', { name: /^Sign and pay/ }).click()
      await other.getByRole('heading', { name: 'Paid, and yours' }).waitFor()
      const [kept] = await other.evaluate(() => Object.entries(sessionStorage))
      if (!kept) throw new Error('the other tab kept nothing')
      return kept as [string, string]
    }

    it('a reload while the burn is under way goes on with the same payment', async () => {
      const release = holdBurn()
      const spent = await cost(async () => {
        await open('/json')
        await pay()
        await until(async () => interop.proxy.paths().includes('/settle'))
        await page.reload()
        await title('Burning your tokens')
        release()
        await title('Paid, and yours')
      })
      expect(spent.paid).toBe(price)
      expect(wallet.signed).toHaveLength(2)
    })
  })

  it('takes nothing that a seller, a wallet or a resource says for markup', async () => {
    wallet.name = `Test Wallet ${hostile}`
    await open(`/hostile?${encodeURIComponent(hostile)}'<b>`)
    await press(/Test Wallet/)
    await press(/^Sign and pay/)
    await title('Paid, and yours')
    expect(await page.evaluate(() => 'pwned' in globalThis)).toBe(false)
    expect(await page.locator('main img, main script, main b b').count()).toBe(0)
    expect(await page.locator('h1').textContent()).toBe(hostile)
    expect(await page.locator('#goods').textContent()).toContain('onerror=pwned=1')
    expect(await page.locator('pre').last().textContent()).toMatch(/^svc-pay pay '[^'\s]+'$/)
    await expectToFit(page)
  })
})
