import { until } from './until.js'

/**
 * Waits until half of the burn addresses are ready. On a busy machine the miner starts later than a caller of
 * `/challenge` waits, and a caller that takes most of what is there waits for more.
 */
export async function untilAddresses(net: {
  readonly facilitatorUrl: string
  readonly adminToken: string
}): Promise<void> {
  const headers = { authorization: `Bearer ${net.adminToken}` }
  await until(async () => {
    const response = await fetch(`${net.facilitatorUrl}/admin/status`, { headers })
    const { addresses } = (await response.json()) as { addresses: { ready: number; target: number } }
    return addresses.ready >= addresses.target / 2
  })
}
