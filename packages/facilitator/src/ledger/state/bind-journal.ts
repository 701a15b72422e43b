/** Binds a journal to the network, token, helper, key and relayer that it is used with, and refuses any others. */
import { SvcError } from '@svc-zerc20/protocol'
import { assertSameSeed, type SeedCheck } from '../../addresses/seed-check.js'
import { systemRandom } from '../../system.js'
import type { EventLog } from '../core.js'
import type { Binding, KnownAccount } from '../events/events.js'
import type { LedgerState } from './state.js'

export type WantedBinding = Pick<Binding, 'chainId' | 'token' | 'helper'>

/**
 * Binds a new journal. Throws for a journal of another chain, token or treasury key, and for one of another helper while
 * burns through that helper are under way: their outcome would be looked for at the wrong place.
 */
export async function bindJournal(
  state: LedgerState,
  wanted: WantedBinding,
  seed: SeedCheck | undefined,
  log: EventLog,
): Promise<void> {
  const known = state.binding()
  assertSameNetwork(known, wanted)
  if (seed) assertSameSeed(state, seed)
  assertSameHelper(state, known, wanted)
  if (known?.id !== undefined && known.helper === wanted.helper && (!seed || known.seed)) return
  const {
    seed: recorded,
    id = newLedgerId(),
    generation = 0,
    relayer,
    minter,
  }: Partial<Binding> = known ?? {}
  const fingerprint = seed?.fingerprint ?? recorded
  const binding: Binding = {
    ...wanted,
    ...(fingerprint !== undefined && { seed: fingerprint }),
    id,
    generation,
    ...(relayer && { relayer }),
    ...(minter && { minter }),
  }
  await record(state, binding, log)
}

/** Keeps an account that signs, and the highest nonce that is known of it. */
export async function bindAccount(
  state: LedgerState,
  name: 'relayer' | 'minter',
  account: KnownAccount,
  log: EventLog,
): Promise<void> {
  const known = state.binding()
  if (!known) throw new SvcError('invariant', 'the journal is not bound to anything')
  await record(state, { ...known, [name]: account }, log)
}

async function record(state: LedgerState, binding: Binding, log: EventLog): Promise<void> {
  const event = { event: 'ledger_bound', binding } as const
  await log.append(event)
  state.apply(event)
}

function assertSameNetwork(known: Binding | undefined, wanted: WantedBinding): void {
  if (!known || (known.chainId === wanted.chainId && known.token === wanted.token)) return
  throw new SvcError(
    'config_invalid',
    `settlement.journal: it belongs to token ${known.token} on chain ${known.chainId}; give this network a journal of its own`,
  )
}

function assertSameHelper(state: LedgerState, known: Binding | undefined, wanted: WantedBinding): void {
  if (!known || known.helper === wanted.helper || state.outstanding().length === 0) return
  throw new SvcError(
    'config_invalid',
    `settlement.permit_burner: burns through ${known.helper ?? 'no helper'} are under way; keep it until they ended`,
  )
}

const idBytes = 16
export const newLedgerId = (): string => Buffer.from(systemRandom.bytes(idBytes)).toString('hex')
