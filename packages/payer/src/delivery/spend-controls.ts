import type { SpendControlAsset, SpendControls } from '@x402/core/client'

/**
 * Tells an official client which tokens it may spend. From 2.23 on a client refuses tokens that it does not
 * know, and it knows no svc-zerc20 token. Controls set before are replaced. Older clients have no spend
 * controls and are returned as they are.
 *
 * `any` leaves tokens and amounts to the payer scheme: set its `allowedTokens` and `maxAmountPerPayment`.
 *
 * @example
 * withSpendControls(new x402Client(), [{ network: 'eip155:31337', asset: token, maxAmountPerPayment: '5000' }])
 */
export function withSpendControls<Client extends object>(
  client: Client,
  tokens: readonly SpendControlAsset[] | 'any',
): Client {
  const allowedAssets = tokens === 'any' ? true : [...tokens]
  if (hasSpendControls(client)) client.setSpendControls({ allowedAssets })
  return client
}

type SpendControlled = { setSpendControls(controls: SpendControls): unknown }

const hasSpendControls = (client: object): client is SpendControlled =>
  'setSpendControls' in client && typeof client.setSpendControls === 'function'
