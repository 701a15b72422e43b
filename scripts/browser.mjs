// The browser of the page tests: a Chromium that is on this machine. On Debian, as root, a missing one is installed.
// Vitest calls `setup` before the tests that may need it. Without a browser those tests are listed as not run.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

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

export function setup() {
  if (findBrowser() !== undefined) return
  if (!existsSync('/etc/debian_version') || process.getuid?.() !== 0) {
    process.stderr.write(`Page tests are not run: there is no browser. To run them: ${howToGetBrowser}\n`)
    return
  }
  process.stderr.write(`Installing ${packageName} for the page tests …\n`)
  const apt = (...args) => execFileSync('apt-get', args, { stdio: ['ignore', process.stderr, 'inherit'] })
  apt('update', '-qq')
  apt('install', '-y', '-qq', '--no-install-recommends', packageName)
}
