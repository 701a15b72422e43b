import type { SpendControlAsset, SpendControls } from '@x402/core/client'

/**
 * Tells an official client which tokens it may spend. From 2.23 on it refuses tokens it does not know by
 * itself, and every svc-zerc20 token is such a one. It replaces controls set before. Older clients have no
 * spend controls and are returned as they are: cap those with `maxAmountPerPayment` of the payer scheme.
 *
 * @example
 * withSpendControls(new x402Client(), [{ network: 'eip155:31337', asset: token, maxAmountPerPayment: '5000' }])
 */
export function withSpendControls<Client extends object>(
  client: Client,
  allowedAssets: readonly SpendControlAsset[],
): Client {
  if (hasSpendControls(client)) client.setSpendControls({ allowedAssets: [...allowedAssets] })
  return client
}

type SpendControlled = { setSpendControls(controls: SpendControls): unknown }

const hasSpendControls = (client: object): client is SpendControlled =>
  'setSpendControls' in client && typeof client.setSpendControls === 'function'
