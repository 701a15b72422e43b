// The PostgreSQL server of the store's tests and of `npm start -- --postgres`: one that is on this machine. On Debian, as
// root, a missing one is installed. Without a server those tests are listed as not run, or run in memory.
import { findPostgres, howToGetPostgres } from '../packages/devnet/dist/network/postgres.js'
import { ensurePackage } from './debian-package.mjs'

/** `users` are what cannot run without it. */
export const ensurePostgres = (users) =>
  ensurePackage({
    isThere: () => findPostgres() !== undefined,
    packageName: 'postgresql',
    users,
    howToGetIt: howToGetPostgres,
  })

export const setup = () => ensurePostgres('Tests of the store on PostgreSQL')
