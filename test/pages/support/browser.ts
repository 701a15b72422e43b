/** One Chromium for a test file, and pages in it that fail the test when anything in them goes wrong. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { findBrowser, howToGetBrowser } from '../../../scripts/browser.mjs'

/** Why tests with a browser are not run, for their names; empty where they are. */
export const notRun = findBrowser() === undefined ? ` (not run: ${howToGetBrowser})` : ''

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findBrowser() ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })

/** A page in a profile of its own. `faults` has what the browser reported: errors, and what the policy stopped. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 1024, height: 900 }, ...options })
  // The test's own time is the bound.
  context.setDefaultTimeout(0)
  const page = await context.newPage()
  const faults: string[] = []
  const hosts = new Set<string>()
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('dialog', (dialog) => faults.push(`dialog ${dialog.message()}`))
  page.on('console', (message) => {
    // The browser itself logs every status from 400 on.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      faults.push(message.text())
    }
  })
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url())
    if (protocol.startsWith('http')) hosts.add(host)
  })
  return { page, faults, hosts, close: () => context.close() }
}

const checker = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Violation = { readonly id: string; readonly nodes: readonly { readonly html: string }[] }

/** What another theme can change: the rules about colours. */
const ofColours = ['color-contrast', 'link-in-text-block']

/** Checks the page as it is now, in both themes. The page's policy would not let the checker in, so it comes by its debugger. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(checker)
  for (const [colorScheme, options] of [
    ['light', {}],
    ['dark', { runOnly: ofColours }],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const found = await page.evaluate(async (asked) => {
      const { axe } = globalThis as unknown as {
        axe: { run(options: object): Promise<{ violations: Violation[] }> }
      }
      const { violations } = await axe.run(asked)
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`)
    }, options)
    expect(found, colorScheme).toEqual([])
  }
}

/** Nothing sticks out of a narrow or a wide window. */
export async function expectToFit(page: Page): Promise<void> {
  for (const width of [320, 390, 1024, 1600]) {
    await page.setViewportSize({ width, height: 900 })
    const [content, window] = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      return [scrollWidth, clientWidth]
    })
    expect(content, `at ${width}`).toBeLessThanOrEqual(Number(window))
  }
}
