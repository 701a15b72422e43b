// The browser of the page tests: a Chromium that is on this machine. On Debian, as root, a missing one is installed.
// Vitest calls `setup` before the tests that may need it. Without a browser those tests are listed as not run. `npm test`
// runs this file as a program before: what a package brings comes over the network while the compiler has the cores.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { canInstall, ensurePackage } from './debian-package.mjs'

const places = [
  process.env.CHROMIUM,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Path of a Chromium, or undefined. `CHROMIUM` names another one. */
export const findBrowser = () => places.find((path) => path !== undefined && existsSync(path))

const packageName = 'chromium-headless-shell'

/** What a person types to have the page tests run. */
export const howToGetBrowser = `apt-get install ${packageName}, or CHROMIUM=/path/to/chromium`

export const setup = () =>
  ensurePackage({
    isThere: () => findBrowser() !== undefined,
    packageName,
    users: 'Page tests',
    howToGetIt: howToGetBrowser,
  })

if (process.argv[1] === fileURLToPath(import.meta.url) && canInstall()) setup()
