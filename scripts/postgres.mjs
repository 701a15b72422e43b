// The PostgreSQL server of the store's tests: one that is on this machine. On Debian, as root, a missing one is installed.
// Without a server those tests are listed as not run, or run in memory.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ensurePackage } from './debian-package.mjs'

const debianFolder = '/usr/lib/postgresql'

/** The folder of `postgres` and `initdb`, or undefined. `POSTGRES_BIN` names another one. */
export function findPostgres() {
  const installed = existsSync(debianFolder)
    ? readdirSync(debianFolder)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(debianFolder, version, 'bin'))
    : []
  const places = [process.env.POSTGRES_BIN, ...installed, '/opt/homebrew/bin', '/usr/local/bin', '/usr/bin']
  return places.find((folder) => folder !== undefined && existsSync(join(folder, 'initdb')))
}

const packageName = 'postgresql'

/** What a person types to have these tests run. */
export const howToGetPostgres = `apt-get install ${packageName}, or POSTGRES_BIN=/folder/of/initdb`

export const setup = () =>
  ensurePackage({
    isThere: () => findPostgres() !== undefined,
    packageName,
    tests: 'Tests of the store on PostgreSQL',
    howToGetIt: howToGetPostgres,
  })
