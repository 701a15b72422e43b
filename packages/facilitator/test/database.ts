/** A fresh database on the server of the project `postgres`, as a daemon finds it, and connections to it. */
import { inject, onTestFinished } from 'vitest'
import '../../../test/support/postgres-project.js'
import { runStatements } from '../../../test/support/postgres-server.js'
import { type Aside, connectAside } from '../src/store/postgres/client.js'
import { prepareSchema } from '../src/store/postgres/prepare-schema.js'

export const serverUrl = inject('postgres')

let databases = 0

export async function openDatabase() {
  databases += 1
  const name = `shared_${process.pid}_${databases}`
  await runStatements(serverUrl ?? '', `CREATE DATABASE ${name}`)
  const database = { url: (serverUrl ?? '').replace(/[^/]*$/, name) }
  await prepareSchema(database)
  return {
    ...database,
    /** A connection as another daemon would have it. */
    connect(): Aside {
      const aside = connectAside(database)
      onTestFinished(() => aside.close())
      return aside
    },
    run: (statements: string) => runStatements(database.url, statements),
  }
}
