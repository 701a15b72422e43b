/** Mined addresses that nobody has seen, over restarts. */
import type { AddressStore } from '../../addresses/stock.js'
import { readyAddresses } from '../steps/operator-steps.js'
import type { Store } from '../store.js'

export const createReadyAddresses = ({ ask, change }: Pick<Store, 'ask' | 'change'>): AddressStore => ({
  load: () => ask(readyAddresses()),
  add: (address) => change('addReady', address),
  drop: (nonces) => change('dropReady', nonces),
})
