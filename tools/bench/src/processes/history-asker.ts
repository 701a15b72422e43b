/** Asks a running facilitator for its payment history, as a participant does, and measures every answer. */
import { execFileSync } from 'node:child_process'
import { facilitatorCommand, type LocalNetwork } from '@svc-zerc20/devnet'

type Role = 'payer' | 'provider'
/** Variables of the payment history. */
type Environment = Readonly<Record<string, string>>

export type Answer = {
  readonly kind: 'page' | 'totals'
  readonly name: string
  /** The first time and the times after it. */
  readonly ms: readonly number[]
  /** How much was found. */
  readonly found: string
}

const times = 4
const daySeconds = 86_400

/** Every kind of filter: those that take much, those that take little, and those that take nothing. */
function questions(now: number): { kind: Answer['kind']; query: string }[] {
  // The bounds are no whole hours, as those of a person's calendar in another time zone.
  const month = `since=${now - 31 * daySeconds - 1_234}&until=${now - daySeconds - 77}`
  const filters = [
    '',
    ...['challenged', 'accepted', 'finalized', 'late'].map((phase) => `phase=${phase}`),
    month,
    'minAmount=500000&maxAmount=500100',
    'minAmount=1000000000000',
    `phase=late&${month}`,
    `phase=accepted&minAmount=500000&${month}`,
    `phase=finalized&maxAmount=2000&${month}`,
  ]
  const pages = filters.map((filter) => ({ kind: 'page' as const, query: `payments?limit=100&${filter}` }))
  return [...pages, { kind: 'totals', query: `totals?${month}` }]
}

/** The operator's command makes the token, from the variables of the daemon. */
function tokenOf({ configFile }: LocalNetwork, env: Environment, role: Role): string {
  const args = [facilitatorCommand, 'history', 'token', '--role', role, '--config', configFile]
  return execFileSync(process.execPath, args, { env: { ...env }, encoding: 'utf8', stdio: 'pipe' }).trim()
}

async function ask(network: LocalNetwork, token: string, path: string): Promise<Response> {
  const answer = await fetch(`${network.facilitatorUrl}/history/${path}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return answer
}

export async function askAll(network: LocalNetwork, env: Environment, role: Role): Promise<Answer[]> {
  const token = tokenOf(network, env, role)
  // The first request opens the connection.
  await (await ask(network, token, 'whoami')).json()
  const answers: Answer[] = []
  for (const { kind, query } of questions(Math.floor(Date.now() / 1000))) {
    const ms: number[] = []
    let found = ''
    for (let i = 0; i < times; i++) {
      const startedAt = performance.now()
      const body = (await (await ask(network, token, query)).json()) as Body
      ms.push(performance.now() - startedAt)
      found = foundIn(body)
    }
    const short = query
      .replace(/since=\d+&until=\d+/, 'a month')
      .replace('limit=100&', '')
      .replace(/^payments\?/, '')
      .replace(/&$/, '')
    answers.push({ kind, name: `${role}: ${short}`, ms, found })
  }
  return answers
}

type Body = {
  readonly payments?: readonly unknown[]
  readonly next?: string
  readonly accepted?: { readonly payments: number }
}

const foundIn = ({ payments, next, accepted }: Body): string =>
  payments ? `${payments.length}${next === undefined ? '' : ', and more'}` : `${accepted?.payments} accepted`

export async function exportAll(
  network: LocalNetwork,
  env: Environment,
): Promise<{ readonly payments: number; readonly bytes: number; readonly ms: number }> {
  const token = tokenOf(network, env, 'provider')
  const startedAt = performance.now()
  const { body } = await ask(network, token, 'export?format=csv')
  let [lines, bytes] = [0, 0]
  for await (const part of body ?? []) {
    bytes += part.length
    for (const byte of part) if (byte === 0x0a) lines += 1
  }
  // The first line names the columns.
  return { payments: lines - 1, bytes, ms: performance.now() - startedAt }
}

/** The slowest of the first answers. */
export function slowest(answers: readonly Answer[]): { readonly name: string; readonly ms: number } {
  const firsts = answers.map(({ name, ms }) => ({ name, ms: ms[0] ?? 0 }))
  return firsts.reduce((a, b) => (a.ms > b.ms ? a : b), { name: 'none', ms: 0 })
}
