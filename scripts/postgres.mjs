// The PostgreSQL server of the store's tests and of `npm start -- --postgres`: one that is on this machine. On Debian, as
// root, a missing one is installed. Without a server a test run that needs one fails. With SVC_WITHOUT_POSTGRES=1 those tests
// are listed as not run, or run in memory.
import { findPostgres, howToGetPostgres } from '../packages/devnet/dist/network/postgres.js'
import { ensurePackage } from './debian-package.mjs'

const isHere = () => findPostgres() !== undefined
const isPermitted = () => process.env.SVC_WITHOUT_POSTGRES === '1'

/** `users` are what cannot run without it. */
export const ensurePostgres = (users) =>
  ensurePackage({
    isThere: isHere,
    packageName: 'postgresql',
    users,
    howToGetIt: howToGetPostgres,
  })

/** A run that leaves tests out must have been asked to: nobody reads how many were skipped. */
export function assertPostgres({ isThere = isHere(), mayLack = isPermitted() } = {}) {
  if (isThere || mayLack) return
  throw new Error(
    `no PostgreSQL server for the tests: ${howToGetPostgres}, or SVC_WITHOUT_POSTGRES=1 without them`,
  )
}

export function setup() {
  ensurePostgres('Tests of the store on PostgreSQL')
  assertPostgres()
}
