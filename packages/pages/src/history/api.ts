/** Calls of the participants' surface. The identity token lives here, in memory, and goes into one header of this origin. */
import type { HistoryAnswers } from '@svc-zerc20/facilitator'
import { Refused, send } from '../ask.js'
import type { Wallet } from '../paywall/wallet.js'

export type { HistoryAnswers }
export type HistoryPayment = HistoryAnswers['page']['payments'][number]
export type Whoami = HistoryAnswers['whoami']

const surface = '../../history/'

/** Asks the wallet for its signature of the facilitator's message (EIP-4361), and the facilitator for a token. */
export async function logIn({ request }: Wallet): Promise<string> {
  const [address] = (await request({ method: 'eth_requestAccounts' })) as string[]
  if (address === undefined) throw new Refused(0, 'The wallet showed no account.')
  const asked = await send(`${surface}login/challenge`, { method: 'POST', body: { address } })
  const { message } = (await asked.json()) as HistoryAnswers['challenge']
  const bytes = [...new TextEncoder().encode(message)]
  const hex = `0x${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
  const signature = await request({ method: 'personal_sign', params: [hex, address] })
  const answer = await send(`${surface}login`, { method: 'POST', body: { message, signature } })
  return ((await answer.json()) as HistoryAnswers['login']).token
}

export type History = ReturnType<typeof createHistory>

export function createHistory(token: string) {
  const ask = (path: string) => send(surface + path, { token })
  const get = async <T>(path: string): Promise<T> => (await ask(path)).json()
  const post = async <T>(path: string, body: object): Promise<T> =>
    (await send(surface + path, { token, method: 'POST', body })).json()
  return {
    whoami: () => get<Whoami>('whoami'),
    payments: (query: string) => get<HistoryAnswers['page']>(`payments?${query}`),
    payment: (nonce: string) => get<HistoryAnswers['payment']>(`payments/${encodeURIComponent(nonce)}`),
    totals: (since: number, until: number) =>
      get<HistoryAnswers['totals']>(`totals?since=${since}&until=${until}`),
    exported: async (format: 'csv' | 'json') => (await ask(`export?format=${format}`)).blob(),
    disclose: (nonce: string) => post<HistoryAnswers['payment']>(`payments/${nonce}/disclose`, {}),
    statement: (path: string, terms: object) => post<HistoryAnswers['statement']>(path, terms),
  }
}
