/** The devnet in a browser: from the storefront to a purchase with the development wallet, and on to the mint. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import type { NetworkFile } from '@svc-zerc20/devnet'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessible, expectToFit, openBrowser, openPage } from '../pages/support/browser.js'

const read = (networkFile: string) => JSON.parse(readFileSync(networkFile, 'utf8')) as NetworkFile

/** Buys like somebody who has never been here. With a folder, the pictures of the README are made. */
export async function buyInBrowser(networkFile: string, pictures: string | undefined): Promise<void> {
  const { storefrontUrl = '' } = read(networkFile)
  const browser = await openBrowser()
  try {
    const { page, faults, hosts } = await openPage(browser)
    const title = (name: string | RegExp) => page.getByRole('heading', { name }).waitFor()
    const press = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).click()
    await page.goto(storefrontUrl)
    expect(await page.locator('.goods').textContent()).toMatch(/0\.001 zUSD[\s\S]*0\.25 zUSD/)
    await expectAccessible(page)
    await expectToFit(page)

    await page.getByRole('link', { name: 'Buy a thought' }).click()
    await press('Development wallet')
    await press('Sign and pay 0.001 zUSD')
    await title('Sign Permit?')
    expect(await page.getByRole('dialog').textContent()).toMatch(
      /test money · public key[\s\S]*value: 0\.001 zUSD \(1000 base units\)[\s\S]*deadline: .*:\d\d.* \(\d{10}\)/,
    )
    await expectAccessible(page)
    await press('Decline')
    await title('You declined')
    await press('Try again')
    await press('Sign')
    await title('Sign BurnAuthorization?')
    await press('Sign')
    await title('Paid, and yours')
    await page.setViewportSize({ width: 390, height: 600 })
    await page.getByRole('link', { name: 'Watch your payment' }).waitFor()
    expect(await covered(page)).toEqual([])
    await page.setViewportSize({ width: 1024, height: 900 })
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await press('Copy')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`svc-pay pay '${page.url()}'`)
    expect(await page.locator('#goods').textContent()).toContain('Cash had one good property.')
    if (pictures) {
      await page.emulateMedia({ colorScheme: 'light' })
      // So tall that nothing which sticks to the lower edge lies over the page.
      await page.setViewportSize({ width: 1024, height: 1600 })
      await page.locator('main').screenshot({ path: join(pictures, 'paywall.png') })
      await page.setViewportSize({ width: 1024, height: 900 })
    }

    await page.getByText('Finalized: the seller has 0.001 zUSD').waitFor()
    expect(await page.locator('.journey > li.done h3').allTextContents()).toEqual(
      ['You', 'Burn', 'Root', 'Proof', 'Mint'].map((name) => expect.stringContaining(name)),
    )
    const seen = await page.locator('.journey > li .seen').allTextContents()
    expect(seen[1]).toMatch(/0x\w{4}…\w{4} → 0x\w{4}…\w{4}, 0\.001 zUSD, in 0x/)
    expect(seen[2]).toMatch(/one root over \d+ transfers/)
    expect(seen[4]).toMatch(/new 0\.001 zUSD for 0x\w{4}…\w{4}, from nobody, in 0x/)
    await expectAccessible(page)
    await expectToFit(page)

    await page.getByRole('link', { name: 'Back to the shop' }).click()
    await page.getByText('Finalized: the seller has 0.001 zUSD').waitFor()
    if (pictures) {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.setViewportSize({ width: 1024, height: 900 })
      await page.screenshot({ path: join(pictures, 'storefront.png'), fullPage: true })
    }

    await page.getByRole('link', { name: 'Open the dashboard' }).click()
    await title('Overview')
    await page.goto(storefrontUrl)
    await page.getByRole('link', { name: 'Open the history' }).click()
    await press('Development wallet of the payer')
    await title('Sign a text?')
    await press('Sign')
    await title('Payments as payer')
    await page.getByText('0.001').first().waitFor()
    expect([...hosts]).toEqual([new URL(storefrontUrl).host])
    expect(faults).toEqual([])
  } finally {
    await browser.close()
  }
}

/** What is said about privacy and lies under something else. */
const covered = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('.notes li')].flatMap((item) => {
      item.scrollIntoView({ block: 'end' })
      const { left, right, top, bottom } = item.getBoundingClientRect()
      const onTop = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
      return item.contains(onTop) ? [] : [`${item.textContent} under ${onTop?.outerHTML}`]
    }),
  )

/** Nobody else can use the development wallet, and it is in no page but those of the storefront. */
export async function tryFromElsewhere(networkFile: string): Promise<void> {
  const { storefrontUrl = '', shopUrl, routes } = read(networkFile)
  const wallet = `${storefrontUrl}/devnet/wallet`
  const body = JSON.stringify({ method: 'eth_accounts' })
  const json = { 'content-type': 'application/json' }
  const ask = async (headers: Record<string, string>) =>
    (await fetch(wallet, { method: 'POST', headers, body })).status
  expect(await ask({ ...json, origin: storefrontUrl })).toBe(200)
  expect(await ask({ ...json, origin: 'https://evil.example' })).toBe(403)
  expect(await ask(json)).toBe(403)
  expect(await ask({ 'content-type': 'text/plain', origin: storefrontUrl })).toBe(415)
  const operator = async (site: string) =>
    (await fetch(`${storefrontUrl}/devnet/operator`, { headers: { 'sec-fetch-site': site } })).status
  expect([await operator('same-origin'), await operator('same-site'), await operator('cross-site')]).toEqual([
    200, 403, 403,
  ])
  // A name of somebody else that leads to this machine. Only the plain client of Node sends it.
  const other = request(storefrontUrl, { headers: { host: 'evil.example' } }).end()
  const [answer] = (await once(other, 'response')) as [IncomingMessage]
  expect(answer.resume().statusCode).toBe(421)

  const sent = await fetch(wallet, {
    method: 'POST',
    headers: { ...json, origin: storefrontUrl },
    body: JSON.stringify({ method: 'eth_sendRawTransaction', params: ['0x'] }),
  })
  expect(await sent.json()).toMatchObject({ error: { code: 4200 } })

  const person = { headers: { accept: 'text/html' } }
  expect(await (await fetch(storefrontUrl + routes.cheap.path, person)).text()).toContain(
    'Development wallet',
  )
  const shop = await fetch(shopUrl + routes.cheap.path, person)
  expect(shop.status).toBe(402)
  expect(await shop.text()).not.toContain('Development wallet')

  const page = await fetch(storefrontUrl)
  const policy = page.headers.get('content-security-policy')
  expect(policy).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/)
  expect(policy).not.toContain('unsafe')
}
