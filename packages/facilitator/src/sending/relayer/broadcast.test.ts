import { EventEmitter, once } from 'node:events'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { stoppedClock } from '../../../../../test/support/clocks.js'
import { addressOf } from '../../../test/challenges.js'
import { createBroadcast } from './broadcast.js'
import type { RelayedCall } from './slot.js'

it('closes when the records know all that was signed, and signs nothing for them after that', async () => {
  const broadcast = createBroadcast({
    rpc: { batch: () => Promise.reject(new Error('nothing is sent here')) },
    account: privateKeyToAccount(generatePrivateKey()),
    from: addressOf(0xb0),
    chainId: 1,
    clock: stoppedClock(),
    report: () => undefined,
  })
  const order: string[] = []
  const gate = new EventEmitter()
  const begun = once(gate, 'begun')
  const call: RelayedCall = {
    purpose: 'burn',
    to: addressOf(1),
    data: '0x01',
    gas: 1n,
    async recordSigned() {
      order.push('recording')
      gate.emit('begun')
      await once(gate, 'written')
      order.push('recorded')
    },
  }
  const price = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
  const signed = broadcast.sign(call, 0, price, 'first')
  await begun
  const closed = broadcast.close().then(() => order.push('closed'))
  await expect(broadcast.sign(call, 1, price, 'first')).rejects.toMatchObject({ code: 'closed' })
  gate.emit('written')
  await Promise.all([signed, closed])
  expect(order).toEqual(['recording', 'recorded', 'closed'])
})
