/**
 * Answers of the administrative surface for people: single facts in two columns, and a table for each list. Their names are
 * those of the answer, so that the reference of the API explains both.
 */
import { inTokens, type TokenLabel, textTable } from '@svc-zerc20/protocol'

type Fields = Readonly<Record<string, unknown>>

const paymentColumns = 'issuedAt phase waiting.reason amount fee.amount challengeNonce transaction'.split(' ')

/** Fields that are worth a column. Other lists show every field. */
const columnsOf: Readonly<Record<string, readonly string[]>> = {
  payments: paymentColumns,
  late: 'late.reason expiresAt late.value challengeNonce late.transaction'.split(' '),
  demoted: ['granted', ...paymentColumns],
  stuck: ['stuck', 'challengeNonce', 'payTo'],
}

const isTime = (name: string) => /(?:^at|^now|^since|At)$/.test(name)
const isWei = (name: string) => /^(?:balance|wei|treasuryWei)$/.test(name)
const isAmount = (name: string) => /^(?:amount|owed|earned|sweepMin|undistributed)$/.test(name)
const coin: TokenLabel = { symbol: 'ETH', decimals: 18 }

export function printAnswer({ payment = {}, ...answer }: Fields): string {
  const token = answer.token as TokenLabel | undefined
  const entries = Object.entries({ ...Object(payment), ...answer })
  const facts = entries
    .filter(([, value]) => !isList(value))
    .map(([name, value]) => [name, show(name, value)])
  const tables = entries.map(([name, value]) => (isList(value) ? printList(name, value) : ''))
  return [facts.length > 0 ? textTable(facts) : '', ...tables].filter((part) => part !== '').join('\n')

  function show(name: string, value: unknown): string {
    if (value === undefined) return '-'
    if (typeof value === 'boolean') return value ? 'yes' : 'no'
    if (isTime(name)) return new Date(Number(value) * 1000).toISOString().replace('.000Z', 'Z')
    if (Array.isArray(value)) return value.map((one) => show('', one)).join('; ') || 'none'
    if (typeof value === 'object') {
      return Object.entries(value ?? {})
        .map(([inner, one]) => `${inner} ${show(inner, one)}`)
        .join(', ')
    }
    if (isWei(name)) return inTokens(BigInt(`${value}`), coin) ?? `${value}`
    const tokens = token && isAmount(name) ? inTokens(BigInt(`${value}`), token) : undefined
    return tokens === undefined ? `${value}` : `${value} (${tokens})`
  }

  function printList(name: string, rows: readonly Fields[]): string {
    const columns = columnsOf[name] ?? [...new Set(rows.flatMap((row) => Object.keys(row)))]
    const cells = rows.map((row) => columns.map((path) => show(path.split('.').at(-1) ?? '', at(row, path))))
    return `${name}\n${textTable([columns, ...cells])}`
  }
}

/** An empty list is a fact. */
const isList = (value: unknown): value is readonly Fields[] =>
  Array.isArray(value) && value.length > 0 && typeof value[0] === 'object'

const at = (row: Fields, path: string): unknown =>
  path.split('.').reduce<unknown>((inside, name) => Object(inside)[name], row)
