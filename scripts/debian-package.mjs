// A program that some tests, or the tour, need and npm does not bring: on Debian, as root, a missing one is installed.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

export const canInstall = () => existsSync('/etc/debian_version') && process.getuid?.() === 0

/** Installs a package, or says what is not run without it and how to have it run. */
export function ensurePackage({ isThere, packageName, users, howToGetIt }) {
  if (isThere()) return
  if (!canInstall()) {
    process.stderr.write(`${users} are not run: ${packageName} is missing. To run them: ${howToGetIt}\n`)
    return
  }
  process.stderr.write(`Installing ${packageName} …\n`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = (...args) =>
    execFileSync('apt-get', args, { env, stdio: ['ignore', process.stderr, 'inherit'] })
  apt('update', '-qq')
  apt('install', '-y', '-qq', '--no-install-recommends', packageName)
}
