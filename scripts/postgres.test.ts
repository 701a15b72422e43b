import { expect, it } from 'vitest'
import { assertPostgres } from './postgres.mjs'

it('tests without a PostgreSQL server are left out only by those who say so', () => {
  expect(() => assertPostgres({ isThere: false, mayLack: false })).toThrow(/SVC_WITHOUT_POSTGRES=1/)
  expect(() => assertPostgres({ isThere: false, mayLack: true })).not.toThrow()
  expect(() => assertPostgres({ isThere: true, mayLack: false })).not.toThrow()
})
