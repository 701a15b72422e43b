/** One server for all tests of the project `postgres`. Each store gets a database of its own. */
import type { TestProject } from 'vitest/node'
import { setup as ensureServer } from '../../scripts/postgres.mjs'
import { notRun, startPostgres } from './postgres-server.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of the server's first database. */
    postgres?: string
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  ensureServer()
  if (notRun() !== '') return undefined
  const server = await startPostgres()
  project.provide('postgres', server.url('postgres'))
  return server.close
}
