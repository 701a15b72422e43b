import { expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { addressOf, deployment, hashOf } from '../../test/challenges.js'
import { minimalConfig } from '../../test/config.js'
import { parseConfig } from '../config/config.js'
import type { Lease } from '../store/lease.js'
import type { SenderTerms } from './chain-side.js'
import { createLeasedSide } from './leased-side.js'
import type { Parts } from './parts.js'

const relayer = addressOf(0xb1)
const active: Lease = {
  fence: { name: 'active', term: 1 },
  lost: new AbortController().signal,
  release: async () => undefined,
}

/** A daemon among others that have the same keys. Nothing is under way. */
async function setup() {
  const resumed: string[] = []
  const recorded: string[] = []
  const ledgerUnder = (leases: readonly Lease[]) => ({
    interrupted: async () => ({ transactions: [], shallow: [], unsigned: [], transfers: [], mints: [] }),
    recordSigned: async () => void recorded.push(leases.map(({ fence }) => fence?.name).join(' and ')),
  })
  const accountAt = (address: string) => ({
    address,
    minedCount: async () => 0,
    start: async () => undefined,
  })
  let terms: SenderTerms | undefined
  const parts = {
    config: parseConfig(minimalConfig({}, 'local')),
    profile: { acceptsPayments: true },
    chainSide: {
      rpc: {},
      chain: {},
      deployment: { ...deployment, helper: undefined },
      openSenders(given: SenderTerms) {
        terms = given
        return { relayer: accountAt(relayer), minter: accountAt(addressOf(0xb2)), mintSender: {} }
      },
    },
    storage: {
      shared: {},
      ledger: ledgerUnder([]),
      issued: {},
      under: (leases: readonly Lease[]) => ({ ledger: ledgerUnder(leases) }),
      knownAccount: async () => undefined,
      bindAccount: async () => undefined,
    },
    clock: stoppedClock(),
    telemetry: { log: () => undefined, metrics: { source: () => undefined } },
  } as unknown as Parts
  const make = {
    finalization: async () => ({ resumeMints: async () => void resumed.push('mints') }),
    fees: () => ({}),
  } as never
  const side = await createLeasedSide(parts, {} as never, active, make)
  await side.resume()
  const empty = { txNonce: 0, hash: hashOf(1), raw: '0x02', from: addressOf(0xb0) } as const
  await terms?.recordEmpty(empty)
  return { resumed, recorded }
}

it('the active daemon goes on with what was signed, and records what it signs under its lease', async () => {
  expect(await setup()).toEqual({ resumed: ['mints'], recorded: ['active'] })
})
