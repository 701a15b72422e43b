/** Mined addresses in a file of their own, beside the journal and under its lock. */
import { readFile } from 'node:fs/promises'
import { SvcError } from '@svc-zerc20/protocol'
import { replaceFile } from '../replace-file.js'
import type { AddressStore, StoredAddress } from './reserve.js'

const format = 1
const nonceForm = /^0x[0-9a-f]{64}$/
const addressForm = /^0x[0-9a-fA-F]{40}$/
const ledgerForm = /^[0-9a-f]{32}$/

/** The file that belongs to a journal. */
export const addressFileOf = (journal: string): string => `${journal}.addresses`

/**
 * `seed` is the fingerprint of the seed that the addresses derive from. A save writes a new file beside the old one, syncs
 * it and renames it over the old one. A damaged file, or one of another program, makes `load` throw; the next `save`
 * replaces it.
 */
export function createAddressStore(path: string, seed?: string): AddressStore {
  return {
    async load() {
      const text = await textOf(path)
      return text === undefined ? [] : addressesIn(text, path)
    },
    async save(addresses) {
      const rows = addresses.map(({ challengeNonce, powNonce, powBits, payTo, epoch }) => [
        challengeNonce,
        powNonce,
        powBits,
        payTo,
        ...(epoch ? [epoch.start, epoch.ledger] : []),
      ])
      // On the disk when it resolves: a power failure must not bring back a file whose addresses have been handed out.
      const content = { format, ...(seed !== undefined && { seed }), addresses: rows }
      await replaceFile(path, `${JSON.stringify(content)}\n`)
    },
  }
}

/**
 * Throws `SvcError('seed_mismatch')` when the addresses were mined with another treasury key. A file that cannot be read
 * is passed over, because the next save replaces it.
 */
export async function assertAddressesOf(path: string, seed: string): Promise<void> {
  const known = seedIn((await textOf(path)) ?? '')
  if (known === undefined || known === seed) return
  throw new SvcError(
    'seed_mismatch',
    `SVC_TREASURY_PK: is not the key that the addresses in ${path} were mined with. Put the old key back; if the new ` +
      'key is meant, remove that file: none of its addresses was handed out',
  )
}

const textOf = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

/** The fingerprint in a file; undefined in a file of an older version. */
function seedIn(text: string): string | undefined {
  try {
    const { seed } = Object(JSON.parse(text)) as { seed?: unknown }
    return typeof seed === 'string' ? seed : undefined
  } catch {
    return undefined
  }
}

function addressesIn(text: string, path: string): readonly StoredAddress[] {
  const damaged = (cause?: unknown) =>
    new SvcError('address_file_damaged', `${path} is not a file of addresses; it will be replaced`, { cause })
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch (error) {
    throw damaged(error)
  }
  const { format: found, addresses }: { format?: unknown; addresses?: unknown } = Object(content)
  if (found !== format || !Array.isArray(addresses)) throw damaged()
  return addresses.map((row: unknown) => {
    const [challengeNonce, powNonce, powBits, payTo, start, ledger]: unknown[] = Array.isArray(row) ? row : []
    if (!isHex(challengeNonce, nonceForm) || !isHex(payTo, addressForm)) throw damaged()
    if (!isCount(powNonce) || !isCount(powBits)) throw damaged()
    const address = { challengeNonce, powNonce, powBits, payTo }
    if (start === undefined) return address
    if (!isCount(start) || typeof ledger !== 'string' || !ledgerForm.test(ledger)) throw damaged()
    return { ...address, epoch: { ledger, start } }
  })
}

const isHex = (value: unknown, form: RegExp): value is `0x${string}` =>
  typeof value === 'string' && form.test(value)

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
