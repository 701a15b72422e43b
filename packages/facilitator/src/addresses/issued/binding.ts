/**
 * Binds the folder of issued addresses to its token, key and journal. A folder of another token or key is refused; beside
 * another journal its transfers are judged anew.
 */
import { type Address, SvcError } from '@svc-zerc20/protocol'
import type { SeedCheck } from '../seed-check.js'
import { type Level, nothing } from './folder-level.js'
import {
  type BesideJournal,
  keys,
  payToIn,
  ranges,
  readIssued,
  readJournal,
  writeJournal,
} from './folder-records.js'

const format = 1
/** Addresses of an older folder that are tried before none is believed to derive from the key. */
const triedMax = 64

export type IssuedBinding = {
  readonly chainId: number
  readonly token: Address
  readonly seed: SeedCheck
}

export type OpenedJournal = BesideJournal & {
  /** The operator goes on with a journal that is not the newest. */
  readonly isAccepted: boolean
}

/**
 * Throws `SvcError('issued_unusable')` for another token and `SvcError('seed_mismatch')` for another key: no proof could
 * mint what lies at its addresses.
 */
export async function bindFolder(level: Level, folder: string, binding: IssuedBinding): Promise<void> {
  const { seed, ...network } = binding
  const text = JSON.stringify({ format, ...network })
  const bound = await level.get(keys.binding)
  if (bound !== undefined) {
    const { seed: fingerprint, ...known } = JSON.parse(bound.toString('utf8')) as { seed?: string }
    if (JSON.stringify(known) !== text) {
      throw new SvcError('issued_unusable', `${folder} belongs to ${JSON.stringify(known)}, not to ${text}`)
    }
    if (fingerprint === seed.fingerprint) return
    if (fingerprint !== undefined || !(await mayDerive(level, seed))) throw mismatch(folder)
  }
  const value = Buffer.from(JSON.stringify({ format, ...network, seed: seed.fingerprint }))
  await level.put(keys.binding, value, { sync: true })
}

/** A folder of an older version names no key: then one of its addresses must derive from the key. */
async function mayDerive(level: Level, seed: SeedCheck): Promise<boolean> {
  let tried = 0
  for await (const value of level.values({ ...ranges.issued, limit: triedMax })) {
    if (seed.derives(readIssued(value))) return true
    tried += 1
  }
  return tried === 0
}

/**
 * Transfers that were passed over are accounted for in the journal alone. Beside another journal, or an older state of
 * the same one, all blocks are followed again and every kept transfer is judged again; what is accounted for stays so.
 */
export async function bindJournal(level: Level, { isAccepted, ...journal }: OpenedJournal): Promise<void> {
  const value = await level.get(keys.journal)
  const known = value && readJournal(value)
  const isKnown = known?.id === journal.id && known.generation <= journal.generation
  const batch = level.batch().put(keys.journal, writeJournal(journal))
  if (!isKnown || isAccepted) {
    batch.del(keys.followed)
    for await (const transfer of level.keys(ranges.transfers))
      batch.put(keys.due(0, payToIn(transfer)), nothing)
  }
  await batch.write({ sync: true })
}

const mismatch = (folder: string) =>
  new SvcError(
    'seed_mismatch',
    `SVC_TREASURY_PK: is not the key that the addresses in ${folder} derive from, so nothing that was paid to them ` +
      'could be minted. Put the old key back; a new key needs a journal of its own (settlement.journal)',
  )
