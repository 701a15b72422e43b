import { expect, it } from 'vitest'
import { tools } from './tools.js'

it('only tools that send no request say that they change nothing: quote sends POST, PUT and DELETE, too', () => {
  const reading = Object.entries(tools).filter(([, { annotations }]) => annotations.readOnlyHint)
  expect(reading.map(([name]) => name)).toEqual(['payment_status', 'budget'])
})
