import { x402Client as OlderClient } from '@x402/axios'
import { x402Client } from '@x402/core/client'
import { describe, expect, it } from 'vitest'
import { address, offerAt } from '../../test/offers.js'
import { withSpendControls } from './spend-controls.js'

const network = 'eip155:31337'
const scheme = {
  scheme: 'svc-zerc20',
  createPaymentPayload: async (x402Version: number) => ({ x402Version, payload: { made: true } }),
}
const required = (amount: string) => ({
  x402Version: 2,
  resource: { url: 'http://shop/a', description: '', mimeType: '' },
  accepts: [offerAt(1_700_000_000, { amount })],
})

describe('spend controls', () => {
  it('open the official client for a listed token, up to its cap', async () => {
    const asset = { network, asset: address(1), maxAmountPerPayment: '1000' } as const
    const client = withSpendControls(new x402Client(), [asset]).register(network, scheme)
    await expect(client.createPaymentPayload(required('1000'))).resolves.toMatchObject({
      payload: { made: true },
    })
    await expect(client.createPaymentPayload(required('1001'))).rejects.toThrow()
  })

  it('keep it closed for every other token', async () => {
    const client = withSpendControls(new x402Client(), [{ network, asset: address(9) }]).register(
      network,
      scheme,
    )
    await expect(client.createPaymentPayload(required('1'))).rejects.toThrow()
  })

  it('can leave tokens to the payer', async () => {
    const client = withSpendControls(new x402Client(), 'any').register(network, scheme)
    await expect(client.createPaymentPayload(required('1'))).resolves.toMatchObject({
      payload: { made: true },
    })
  })

  it('leave a client that has none as it is', () => {
    const older = new OlderClient()
    expect(withSpendControls(older, [])).toBe(older)
  })
})
