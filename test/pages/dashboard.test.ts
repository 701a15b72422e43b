/** The dashboard and the history page in a real browser, over the payments of a real network. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { developmentRoles } from '@svc-zerc20/devnet'
import type { Browser, Download, Page } from 'playwright-core'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findBrowser, howToGetBrowser } from '../../scripts/browser.mjs'
import { until } from '../support/until.js'
import { expectAccessible, expectToFit, openBrowser, openPage } from './support/browser.js'
import { type Operated, startOperated } from './support/operated.js'
import { hostile } from './support/shop.js'
import { giveWallet, walletFor } from './support/wallet.js'

const notRun = findBrowser() === undefined ? ` (not run: ${howToGetBrowser})` : ''
/** Each screen's headings and columns, in reading order. */
const outlines: Readonly<Record<string, string>> = {
  overview:
    'Overview, Accepted today, Fees earned today, Awaiting mint, Finalized today, Gas of the relayer, Attention, What needs you, Over time, Accepted, Finalized, Fees earned',
  payments: 'Payments, Issued, Payment, Phase, Amount, zUSD, Seller, Payer, Burn, Mint',
  attention:
    'Attention, Now, Issuance, Burned and not minted yet, root behind 2 payments, Payment, Accepted, Waits since, Amount, Action, Burns that bought nothing, Payment, Why, From, Burn, Amount, Transfers that covered nothing, Payment, When, Why, Transaction, Tokens stuck at burn addresses, Payment, Burn address, Transfers, Stuck, None of these',
  money:
    'Money, Owed to the provider, Minted in 31 days, Fees due, Fees swept, Gas spent, Payments against mints, Finalized, Payment, Burned, zUSD, Minted, Fee in it, Burn, Mint, Verdict, Fees',
  privacy:
    'Privacy, Median company of a mint, Mints that stood alone, Largest batch, Company of each mint, oldest to newest, What an observer could link, Finalized, Mint, Payments, Minted, Company, Verdict, Settings that change it',
  health:
    'Health, Parts, Part, State, Detail, Gas and transactions, Account, Address, Lasts, Balance and pace, In flight',
}
const screens = Object.keys(outlines)

describe.skipIf(notRun !== '')(`the pages of the facilitator${notRun}`, () => {
  let net: Operated
  let browser: Browser
  let opened: Awaited<ReturnType<typeof openPage>>
  let page: Page

  beforeAll(async () => {
    browser = await openBrowser()
    net = await startOperated()
  })
  afterAll(async () => {
    await browser?.close()
    await net?.close()
  })
  beforeEach(async () => {
    opened = await openPage(browser)
    page = opened.page
  })
  afterEach(async () => {
    await opened.close()
    expect(opened.faults).toEqual([])
    expect([...opened.hosts]).toEqual([new URL(net.facilitatorUrl).host])
  })

  const press = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).click()
  const text = async () => String(await page.locator('main').textContent()).replaceAll(/\s+/g, ' ')
  const go = async (place: string) => {
    await page.evaluate((hash) => {
      location.hash = hash
    }, place)
    await page
      .locator(`main[data-key="${place.includes('/') ? place : `${place}/`}"] :is(.card, .tile, .filters)`)
      .first()
      .waitFor()
  }
  async function signIn(token = net.adminToken): Promise<void> {
    await page.goto(`${net.facilitatorUrl}/dashboard/`)
    await page.getByLabel('Admin token').fill(token)
    await press('Sign in')
  }
  const said = (words: string | RegExp) => page.getByRole('status').filter({ hasText: words }).waitFor()

  /** Every word of these answers becomes one that would run, if a page took it for markup. */
  async function poisonAnswers(paths: string): Promise<void> {
    const poison = (value: unknown): unknown => {
      if (typeof value === 'string')
        return /^(?:\d+|0x\w+|eip155:\d+|open|single|payer|address)$/.test(value) ? value : hostile
      if (Array.isArray(value)) return value.map(poison)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, poison(each)]))
    }
    await page.route(paths, async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: poison(await response.json()) })
    })
  }
  const expectNothingRan = async () =>
    expect(
      await page.evaluate(() => ['pwned' in globalThis, document.images.length, document.scripts.length]),
    ).toEqual([false, 0, 1])
  const contentOf = async (file: Download) => readFileSync(await file.path(), 'utf8')

  it.each(['/dashboard/', '/dashboard/history/'])(
    '%s paints before anything else is there, and says how soon',
    async (path) => {
      const paint = () =>
        page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime)
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.route('**/*', async (route, request) => {
        if (!request.isNavigationRequest()) await held
        await route.continue()
      })
      await page.goto(net.facilitatorUrl + path, { waitUntil: 'commit' })
      await until(async () => (await paint()) !== undefined)
      expect(await page.locator('h1').count()).toBe(1)
      release()
      await page.waitForLoadState()
      await page.unroute('**/*')

      const times: number[] = []
      for (let run = 0; run < 9; run++) {
        await page.goto(net.facilitatorUrl + path)
        await until(async () => (await paint()) !== undefined)
        times.push(Math.round((await paint()) ?? 0))
      }
      times.sort((one, other) => one - other)
      process.stdout.write(
        `first paint of ${path}: median ${times[4]} ms, at most ${times[8]} ms of 9 runs\n`,
      )
    },
  )

  describe('dashboard', () => {
    it('opens for the token alone, which is in no address, no storage and no cookie, and gone after a reload', async () => {
      const urls: string[] = []
      page.on('request', (request) => urls.push(request.url()))
      await signIn('another token')
      await page.getByRole('alert').filter({ hasText: 'The token is not the one' }).waitFor()
      await expectAccessible(page)
      await expectToFit(page)
      await signIn()
      await page.getByText('Accepted today').waitFor()
      const kept = await page.evaluate(() => [
        localStorage.length,
        sessionStorage.length,
        document.cookie,
        location.href,
      ])
      expect(kept).toEqual([0, 0, '', `${net.facilitatorUrl}/dashboard/`])
      expect(urls.filter((url) => url.includes(net.adminToken))).toEqual([])
      await press('Sign out')
      await page.getByLabel('Admin token').waitFor()
      await signIn()
      await page.getByText('Accepted today').waitFor()
      await page.reload()
      await page.getByLabel('Admin token').waitFor()
    })

    it('forgets the token when its reader leaves, so that the back button shows nobody what it knew', async () => {
      await signIn()
      await page.getByText('Accepted today').waitFor()
      // As a browser does that keeps the page whole.
      await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })))
      await page.getByLabel('Admin token').waitFor()
      expect(await text()).not.toContain('Accepted today')
    })

    it('says of a token that no header can carry that it is not the one', async () => {
      await signIn('“a token…”')
      await page.getByRole('alert').filter({ hasText: 'The token is not the one' }).waitFor()
    })

    it.each([
      ['a page', '<!doctype html><h1>Bad gateway</h1>', 'No answer from the facilitator. Trying again.'],
      ['another shape', '{"ready":true}', 'This page does not understand the facilitator. Reload it.'],
      ['nothing', 'null', 'This page does not understand the facilitator. Reload it.'],
      [
        'megabytes',
        JSON.stringify({ now: 'a'.repeat(20_000_000) }),
        'This page does not understand the facilitator. Reload it.',
      ],
    ])('says so when the facilitator answers with %s, and goes on afterwards', async (_, body, words) => {
      await page.route('**/admin/status', (route) => route.fulfill({ body }))
      await signIn()
      await page.getByText(words).waitFor()
      await page.unroute('**/admin/status')
      await page.getByText('Accepted today').waitFor()
      expect(await text()).not.toContain(words)
    })

    it('is nothing that a page of another site can read, embed, hold or use while it is open', async () => {
      await signIn()
      await page.getByText('Accepted today').waitFor()
      const foreign = createServer((_, response) =>
        response.setHeader('content-type', 'text/html').end('foreign'),
      )
      await once(foreign.listen(0, '127.0.0.1'), 'listening')
      try {
        const other = await page.context().newPage()
        // The same site for a browser, and another origin.
        await other.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`)
        const done = await other.evaluate(async (origin) => {
          const outcome = (doing: Promise<unknown>) =>
            doing.then(
              () => 'done',
              () => 'refused',
            )
          const load = (tag: 'iframe' | 'script', path: string) =>
            new Promise<string>((resolve) => {
              const element = Object.assign(document.createElement(tag), { src: origin + path })
              // A frame that may not be shown has a document of nobody, which cannot be read either.
              element.onload = () => resolve(tag === 'script' ? 'ran' : 'shown')
              element.onerror = () => resolve('refused')
              document.body.append(element)
            })
          const credentials = 'include'
          const opened = open(`${origin}/dashboard/`)
          return {
            read: await outcome(fetch(`${origin}/dashboard/`, { credentials })),
            asked: await outcome(fetch(`${origin}/admin/status`, { credentials })),
            script: await load('script', '/dashboard/dashboard.js'),
            frame: await load('iframe', '/dashboard/'),
            posted: (await fetch(`${origin}/admin/pause`, { method: 'POST', mode: 'no-cors', credentials }))
              .type,
            isHeld: await new Promise((resolve) =>
              setTimeout(() => resolve(opened?.closed === false), 1_000),
            ),
          }
        }, net.facilitatorUrl)
        expect(done).toEqual({
          read: 'refused',
          asked: 'refused',
          script: 'refused',
          frame: 'shown',
          posted: 'opaque',
          isHeld: false,
        })
        const [, frame] = other.frames()
        expect(await frame?.evaluate(() => document.URL)).toMatch(/^chrome-error:/)
        expect((await net.admin('/status')).body.issuance).toBe('open')
        expect(await page.evaluate(() => opener)).toBe(null)
      } finally {
        foreign.close()
      }
    })

    it('opens for whatever stands in its address', async () => {
      await signIn()
      for (const place of ['constructor', '__proto__', 'payments/..', 'nothing/at/all']) {
        await page.evaluate((hash) => {
          location.hash = hash
        }, place)
        await page.getByRole('heading', { level: 1 }).waitFor()
      }
      await go('overview')
    })

    it('answers what came in, what waits and why, and whether the gas lasts', async () => {
      await signIn()
      await page.getByText('Accepted today').waitFor()
      const shown = await text()
      expect(shown).toContain('Accepted today2.75725 zUSD4 payments')
      expect(shown).toContain('Fees earned today0.06725 zUSD')
      expect(shown).toMatch(
        /Awaiting mint1\.52725 zUSD2 payments, the oldest for \d+ (?:s|min): 2 root behind/,
      )
      expect(shown).toContain('Finalized today1.7425 zUSD3 payments')
      expect(shown).toMatch(/Gas of the relayer(?:10\+ years|\d+ days)/)
      const chart = page.getByRole('img', { name: /^Accepted by hour of the last 24: 2\.75725 zUSD in all/ })
      await chart.waitFor()
      await press('30 days')
      await page.getByRole('img', { name: /^Accepted by day of the last 30: 2\.75725 zUSD in all/ }).waitFor()
    })

    it('says what a bar of a chart stands for while it is pointed at', async () => {
      await signIn()
      const chart = page.getByRole('img', { name: /^Accepted by hour/ })
      await chart.waitFor()
      const bars = chart.locator('i')
      const told = await bars.allTextContents()
      const hours = told.map((text) =>
        (/: ([\d.]+) zUSD, (\d+) payments?$/.exec(text) ?? []).slice(1).map(Number),
      )
      const sum = (place: number) => hours.reduce((before, of) => before + (of[place] ?? 0), 0)
      // An hour may have begun between two payments, or since the last one.
      expect([sum(0).toFixed(5), sum(1)]).toEqual(['2.75725', 4])
      const bar = bars.nth(hours.findLastIndex(([amount = 0]) => amount > 0))
      expect(await bar.locator('span').isVisible()).toBe(false)
      await bar.hover()
      await bar.locator('span').waitFor()
    })

    it('names the daemons on one database, what each does alone, and which was not heard of', async () => {
      await page.route('**/admin/status', async (route) => {
        const response = await route.fetch()
        const daemons = [
          { name: 'one', here: true, alive: true, silentSeconds: 1 },
          { name: 'two', here: false, alive: false, silentSeconds: 120 },
        ]
        const status = await response.json()
        const leases = [
          { name: `send ${status.relayer.address}`, term: 7, holder: 'two' },
          { name: 'work', term: 8 },
        ]
        await route.fulfill({ response, json: { ...status, daemons, leases } })
      })
      await signIn()
      await page.getByText('two was last heard of 2 min ago.').waitFor()
      await go('health')
      const rows = page.getByRole('region', { name: 'Daemons on this database' }).locator('tbody tr')
      expect(await rows.allTextContents()).toEqual([
        'one, which answers herealive1 s ago–',
        expect.stringMatching(/^twosilent2 min agosends from 0x\w{6}…\w{4}$/),
      ])
      await page.getByText('Nobody does this:follows the token, mints').waitFor()
      await expectAccessible(page)
    })

    it('says which payment a burn is, and shows its way from challenge to mint', async () => {
      const [, second] = net.minted
      await signIn()
      await go('payments')
      await page.getByLabel('Burn, nonce or burn address').fill(` ${second?.burn} `)
      await press('Show')
      await page
        .locator('tbody tr')
        .and(page.locator(`[data-key="${second?.nonce}"]`))
        .waitFor()
      await page.getByText('1 payment', { exact: true }).waitFor()
      await page.locator('tbody a').click()
      await page.getByRole('heading', { name: 'From challenge to mint' }).waitFor()
      const turns = await page.locator('.timeline li strong').allTextContents()
      expect(turns[0]).toBe('Challenge issued')
      expect(turns).toContain('Accepted: the resource may be served')
      expect(turns.at(-1)).toBe('Finalized: the provider has the money')
      expect(await text()).toMatch(/Sellerweather/)
      const [time] = await page.locator('.timeline time').all()
      expect(await time?.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
    })

    it('filters payments, and gives them as CSV', async () => {
      await signIn()
      await go('payments')
      await page.getByLabel('Phase').selectOption('finalized')
      await page.getByLabel('At least').fill('1')
      await press('Show')
      await page.getByText('1 payment', { exact: true }).waitFor()
      const [file] = await Promise.all([page.waitForEvent('download'), press('All of these as CSV')])
      const [head, row, ...rest] = (await contentOf(file)).split('\r\n')
      expect(head).toMatch(/^challenge_nonce,phase,issued_at/)
      expect(row).toContain(`${net.minted[2]?.nonce},finalized,`)
      expect(rest).toEqual([''])
      await page.getByLabel('Seller').fill('weather')
      await press('Show')
      await page.getByText('No payment fits.').waitFor()
      await press('Clear')
      await page.getByText('7 payments', { exact: true }).waitFor()
    })

    it('lists late, unmatched and stuck burns', async () => {
      await signIn()
      await go('attention')
      const rows = (name: string) => page.getByRole('region', { name, exact: true }).locator('tbody tr')
      expect(await rows('Burns that bought nothing').textContent()).toContain('late')
      expect(await rows('Transfers that covered nothing').textContent()).toContain('burn underpaid')
      expect(await rows('Tokens stuck at burn addresses').textContent()).toContain('0.0003 zUSD')
    })

    it('pauses, resumes and retries only after a question', async () => {
      await signIn()
      await go('attention')
      await press('Pause issuance')
      await expectAccessible(page)
      await press('Leave it')
      expect((await net.admin('/status')).body.issuance).toBe('open')
      await press('Pause issuance')
      await page.getByLabel('Why, in one line').fill('new disk')
      await press('Pause')
      await said('Issuance is paused.')
      expect((await net.post('/challenge', { amount: '1' })).text).toContain('new disk')
      await page.getByText('paused', { exact: true }).waitFor()
      await press('Resume issuance')
      await press('Resume')
      await said('Issuance is open.')
      await page
        .getByRole('row', { name: new RegExp(net.waiting.nonce.slice(0, 8)) })
        .getByRole('button')
        .click()
      await page.getByRole('dialog').getByRole('button', { name: 'Retry' }).click()
      await said('Its mint is tried in the next round.')
    })

    it('has screens that everybody can use, in both themes and at every width', async () => {
      await signIn()
      for (const screen of [...screens, `payments/${net.waiting.nonce}`]) {
        await go(screen)
        const outline = await page.locator('main :is(h1, h2, h3, th)').allTextContents()
        if (outlines[screen]) expect(outline.join(', ')).toBe(outlines[screen])
        await expectAccessible(page)
        await expectToFit(page)
        await page.setViewportSize({ width: 1024, height: 900 })
      }
      await page.keyboard.press('Tab')
      expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe('BODY')
    })

    it('shows what others wrote as text, whatever it is', async () => {
      await poisonAnswers('**/admin/**')
      await signIn()
      for (const screen of [...screens, `payments/${net.late && net.waiting.nonce}`]) {
        await go(screen)
        expect(await text()).toContain('<script>')
      }
      await expectNothingRan()
    })

    it('moves nothing that its reader looks at, while it is asked again and again', async () => {
      await page.addInitScript(() => {
        const moved: unknown[] = []
        Object.assign(globalThis, { moved })
        new PerformanceObserver((list) => moved.push(...list.getEntries())).observe({ type: 'layout-shift' })
      })
      await signIn()
      let answers = 0
      page.on('response', (response) => {
        if (response.url().endsWith('/admin/status')) answers += 1
      })
      await go('overview')
      const before = answers
      await until(() => answers > before + 1)
      expect(await page.evaluate(() => (globalThis as unknown as { moved: unknown[] }).moved.length)).toBe(0)
    })

    it('goes on showing what it has while the facilitator is away, and shows a mint without a reload', async () => {
      await signIn()
      await go(`payments/${net.waiting.nonce}`)
      await page.getByText('Waits: root behind.').waitFor()
      await page.route('**/admin/**', (route) => route.abort())
      await said('No answer from the facilitator. Trying again.')
      await page.getByText('Waits: root behind.').waitFor()
      await page.unroute('**/admin/**')
      net.resumeIndexer()
      await page.getByText('Finalized: the provider has the money').waitFor()
    })
  })

  it('a button has one line, at the width of most screens', async () => {
    await signIn()
    await page.setViewportSize({ width: 1280, height: 900 })
    for (const screen of screens) {
      await go(screen)
      const buttons = await page.getByRole('button').evaluateAll((found) =>
        found.map((button) => {
          const range = document.createRange()
          range.selectNodeContents(button)
          const lines =
            range.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(button).lineHeight)
          return { name: button.textContent, lines: Math.round(lines) }
        }),
      )
      expect(buttons.length).toBeGreaterThan(0)
      expect(
        buttons.filter(({ lines }) => lines > 1),
        screen,
      ).toEqual([])
    }
  })

  describe('history page', () => {
    const provider = privateKeyToAccount(developmentRoles.provider.privateKey)

    async function logIn(account = net.payer): Promise<void> {
      const wallet = walletFor(account)
      await giveWallet(page, wallet, net.rpcUrl)
      await page.goto(`${net.facilitatorUrl}/dashboard/history/`)
      await press('Test Wallet')
      await page.getByRole('heading', { name: 'Totals by month' }).waitFor()
      expect(wallet.signed).toEqual(['message'])
    }

    it('asks for a wallet, and says so where there is none', async () => {
      await page.goto(`${net.facilitatorUrl}/dashboard/history/`)
      await page.getByText('No wallet was found in this browser.').waitFor()
      await expectAccessible(page)
      await expectToFit(page)
    })

    it('shows a payer its payments, totals and burns, and no mint and no treasury', async () => {
      await logIn()
      const shown = await text()
      expect(shown).toContain('Payments as payer')
      // The payments are of today, or of yesterday just before midnight.
      const days = await page.evaluate(() =>
        [0, 3_600_000].map((agoMs) =>
          new Date((Math.floor((Date.now() - agoMs) / 86_400_000) + 2) * 86_400_000).toLocaleDateString(
            undefined,
            {
              day: 'numeric',
              month: 'short',
            },
          ),
        ),
      )
      expect(shown).toMatch(new RegExp(`told from (?:${days.join('|')}) on`))
      expect(shown).toMatch(/Month\s*Payments.*20\d\d\s*3/)
      await expectAccessible(page)
      await expectToFit(page)
      await page.setViewportSize({ width: 1024, height: 900 })
      await page.locator('tbody a').first().click()
      await page.getByRole('heading', { name: 'Its turns' }).waitFor()
      const one = await text()
      expect(one).toContain(net.payer.address)
      expect(one).not.toMatch(/Mint0x|Treasury/)
      await expectAccessible(page)
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        (async () => {
          await page.getByRole('link', { name: 'All payments' }).click()
          await press('Everything as CSV')
        })(),
      ])
      expect((await contentOf(file)).trim().split('\n')).toHaveLength(4)
    })

    it('shows what others wrote as text, and forgets the login when its reader leaves', async () => {
      await poisonAnswers('**/history/{whoami,payments,totals}*')
      await poisonAnswers('**/history/payments/*')
      await logIn()
      expect(await text()).toContain('<script>')
      await page.locator('tbody a').first().click()
      await page.getByRole('heading', { name: 'Its turns' }).waitFor()
      expect(await text()).toContain('<script>')
      await expectNothingRan()
      await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })))
      await page.getByRole('heading', { name: 'Log in with your wallet' }).waitFor()
    })

    it('shows a provider its mints, and no payer that did not disclose itself', async () => {
      await logIn(provider)
      expect(await text()).toContain('not disclosed')
      expect(await text()).not.toContain(net.payer.address.slice(0, 8))
      await page.locator('tbody a').last().click()
      await page.getByRole('heading', { name: 'Its turns' }).waitFor()
      expect(await text()).toContain('Mint0x')
    })

    it('gives a statement, and checks it without a network: believed, or not when one letter changed', async () => {
      await logIn()
      await page.locator(`tbody a[href="#${net.minted[0]?.nonce}"]`).click()
      await press('Get a statement')
      await page.getByLabel('Audience, such as').fill('https://auditor.example')
      const [file] = await Promise.all([page.waitForEvent('download'), press('Go on')])
      const statement = await contentOf(file)
      const [, anchorPath = ''] =
        /HISTORY_ISSUER_TRUST_ANCHOR_PATH='(.*)'/.exec(readFileSync(String(net.historyEnvFile), 'utf8')) ?? []
      const anchor = readFileSync(anchorPath, 'utf8')
      await page.context().setOffline(true)
      const drop = (name: string, content: string) =>
        page
          .locator('input[type=file]')
          .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(content) })
      await drop('statement.json', statement)
      await page.getByText('Now drop the trust anchor').waitFor()
      await page.evaluate((content) => {
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File([content], 'anchor.json'))
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
      }, anchor)
      await page.getByText('believed', { exact: true }).waitFor()
      expect(await text()).toMatch(/challengeNonce0x/)
      expect(await text()).toContain('Made forhttps://auditor.example')
      await expectAccessible(page)
      await page.context().setOffline(false)
      await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })))
      await page.getByText('Trust anchor: none yet').waitFor()
      expect(await text()).not.toContain('auditor.example')
      await page.route('**/history/whoami', async (route) => {
        const response = await route.fetch()
        const token = `0x${'1'.repeat(40)}`
        await route.fulfill({ response, json: { ...(await response.json()), token } })
      })
      await press('Test Wallet')
      await page.getByRole('heading', { name: 'Its turns' }).waitFor()
      await drop('anchor.json', anchor)
      await drop('statement.json', statement)
      await page.getByText('believed', { exact: true }).waitFor()
      // The decimals of another token are not those of this one.
      expect(await text()).toMatch(/amount256,250 base units/)
      const { statement: token } = JSON.parse(statement) as { statement: string }
      const at = token.indexOf('.') + 20
      const bent = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
      await drop('bent.json', statement.replace(token, bent))
      await page.getByText('not believed', { exact: true }).waitFor()
    })
  })
})
