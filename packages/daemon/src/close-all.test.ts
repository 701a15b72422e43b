import { expect, it } from 'vitest'
import { closeAll } from './close-all.js'

it('closes every part in turn although some cannot be closed, and then says which', async () => {
  const closed: string[] = []
  const closing = closeAll([
    () => Promise.reject(new Error('the pool hangs')),
    async () => void closed.push('relayer'),
    () => {
      throw new Error('the socket is gone')
    },
    () => closed.push('storage'),
  ])
  await expect(closing).rejects.toMatchObject({
    code: 'close_failed',
    message: 'not closed in order: the pool hangs; the socket is gone',
  })
  expect(closed).toEqual(['relayer', 'storage'])
})

it('says nothing when all is well', async () => {
  await expect(closeAll([async () => undefined, () => undefined])).resolves.toBeUndefined()
})
