/** Judges unknown keys of the file: a misspelling is a warning, a secret is a failure. */
import { nearestName, parseAddress } from '@svc-zerc20/protocol'
import { looksLikeKey, soundsSecret } from './credentials.js'
import type { Finding } from './finding.js'
import { knownPaths, listTables, tables } from './keys.js'
import type { LineOf } from './lines.js'

export function judgeUnknownKeys(raw: Readonly<Record<string, unknown>>, lineOf: LineOf): Finding[] {
  return unknownPaths(raw, '').map(({ path, value }): Finding => {
    const line = lineOf(path)
    const where = line === undefined ? {} : { line }
    if (hidesSecret({ path, value })) {
      const message = path.startsWith('sellers[')
        ? 'a token of a seller never stands in the file, only its hash; make another, and set token_sha256'
        : 'secrets are never read from the file; remove it here, regard it as known to others, ' +
          'and set SVC_TREASURY_PK, SVC_RELAYER_PK, SVC_MINTER_PK or SVC_ADMIN_TOKEN in the environment'
      return { level: 'fail', key: path, message, ...where }
    }
    const meant = nearest(path)
    const message = `unknown key, ignored${meant === undefined ? '' : `; did you mean ${meant}?`}`
    return { level: 'warn', key: path, message, ...where }
  })
}

type Unknown = { readonly path: string; readonly value: unknown }

function unknownPaths(table: Readonly<Record<string, unknown>>, prefix: string): Unknown[] {
  return Object.entries(table).flatMap(([name, value]) => {
    const path = prefix + name
    if (knownPaths.includes(path.replace(/\[\d+\]/, ''))) return []
    if (prefix === '' && Object.hasOwn(listTables, name)) return unknownInList(name, value)
    if (isTable(value)) {
      const inside = unknownPaths(value, `${path}.`)
      const known = prefix === '' && Object.hasOwn(tables, name)
      // An unknown table is reported once, plus each secret inside it.
      return known ? inside : [{ path, value }, ...inside.filter(hidesSecret)]
    }
    // A value with the name of a table is reported by the reader of tables.
    return prefix === '' && Object.hasOwn(tables, name) ? [] : [{ path, value }]
  })
}

/** Unknown keys in a repeated table. A value that is no list of tables is reported by the reader of tables. */
function unknownInList(name: string, value: unknown): Unknown[] {
  const list: unknown[] = Array.isArray(value) ? value : []
  return list.flatMap((one, place) => (isTable(one) ? unknownPaths(one, `${name}[${place}].`) : []))
}

/** Whether an unknown key may hold a secret. An address never does, so a misplaced `token` address is only a warning. */
const hidesSecret = ({ path, value }: Unknown): boolean =>
  looksLikeKey(value) || (soundsSecret(lastName(path)) && parseAddress(value) === undefined)

const lastName = (path: string): string => path.slice(path.lastIndexOf('.') + 1)

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

/** The known key that was probably meant: the same name in another table, or the closest spelling. */
function nearest(path: string): string | undefined {
  const name = lastName(path)
  const elsewhere = knownPaths.filter((known) => known.endsWith(`.${name}`))
  if (elsewhere.length === 1) return elsewhere[0]
  return nearestName(path.toLowerCase(), [...knownPaths, ...Object.keys(tables)], name.length)
}
