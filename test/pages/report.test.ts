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
    const charts = await page.getByRole('img').all()
    expect(charts).toHaveLength(2)
    expect(await charts[0]?.getAttribute('aria-label')).toMatch(/single, no delay: company \d+, % linked \d/)
    expect(await page.locator('table').first().textContent()).toContain('batch')
    await expectAccessible(page)
    await expectToFit(page)
    expect([...hosts]).toEqual([])
    expect(faults).toEqual([])
    await close()
  })
})
