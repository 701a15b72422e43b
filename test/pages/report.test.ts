/** The pages that tools write for a browser, opened as files. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectAccessible, expectToFit, notRun, openBrowser, openPage } from './support/browser.js'

const run = promisify(execFile)
const command = new URL('../../tools/observer/dist/main.js', import.meta.url).pathname

describe.skipIf(notRun !== '')(`the page of npm run privacy${notRun}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-report-'))
  const file = join(folder, 'privacy.html')
  let browser: Browser

  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('is one file that loads nothing, and shows linked payments against company', async () => {
    const { stdout } = await run(process.execPath, [command, '--payments', '20', '--page', file])
    expect(stdout).toMatch(/The same as charts, for a browser: .*privacy\.html/)
    expect(readFileSync(file, 'utf8')).not.toMatch(/(?:src|href)=/)
    const { page, faults, hosts, close } = await openPage(browser)
    await page.goto(pathToFileURL(file).href)
    await page.getByRole('heading', { name: 'How often the chain gives a payment away' }).waitFor()
    const headings = await page.getByRole('heading', { level: 2 }).allTextContents()
    expect(headings).toHaveLength(4)
    // Each section has its bars, and those of linked payments their points, too.
    const charts = await page.getByRole('img').all()
    expect(charts).toHaveLength(4 + 3)
    const labels = await Promise.all(charts.map((chart) => chart.getAttribute('aria-label')))
    expect(
      labels.filter((label) => /single, no delay.*: company \d+, % linked \d/.test(label ?? '')),
    ).toHaveLength(3)
    expect(await page.locator('table').first().textContent()).toContain('batch')
    await expectAccessible(page)
    await expectToFit(page)
    await page.setViewportSize({ width: 390, height: 844 })
    await page.reload()
    const drawn = await page.evaluate(() =>
      [...document.querySelectorAll('section')].map((section) => ({
        // Letters of their own size, and nothing behind an edge.
        scales: [...section.querySelectorAll('svg')].map(
          (chart) => chart.clientWidth / chart.viewBox.baseVal.width,
        ),
        hidden: [...section.querySelectorAll('figure, .wide')].filter(
          (box) => box.scrollWidth > box.clientWidth,
        ).length,
        places: [...section.querySelectorAll('circle')].map((point) => Number(point.getAttribute('cx'))),
        // The table of the points comes first.
        companies: [...section.querySelectorAll('tbody')]
          .filter(() => section.querySelector('circle'))
          .slice(0, 1)
          .flatMap((rows) => [...rows.children].map((row) => Number(row.children[1]?.textContent))),
      })),
    )
    expect(drawn).toHaveLength(4)
    for (const { scales, hidden, places, companies } of drawn) {
      expect(scales.map((scale) => Math.round(100 * scale))).toEqual(scales.map(() => 100))
      expect(hidden).toBe(0)
      expect(places).toHaveLength(companies.length)
      // A point stands at its company, and not beside it where another one has the same.
      for (const [i, company] of companies.entries())
        expect(places[i]).toBe(places[companies.indexOf(company)])
    }
    expect([...hosts]).toEqual([])
    expect(faults).toEqual([])
    await close()
  })
})
