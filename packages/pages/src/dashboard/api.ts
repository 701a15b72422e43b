/** Calls of the administrative surface. The token lives here, in memory, and goes into one header of this origin. */
import type { AdminAnswers as Answers } from '@svc-zerc20/facilitator'
import { Refused, send } from '../ask.js'

type LedgerFields = 'issuance' | 'payments' | 'mints' | 'fees' | 'challenges'
export type Status = Answers['status'] & { [Name in LedgerFields]-?: NonNullable<Answers['status'][Name]> }
export type AdminAnswers = Omit<Answers, 'status'> & { readonly status: Status }
export type Payment = AdminAnswers['payments']['payments'][number]
export type WaitReason = NonNullable<Payment['waiting']>['reason']

/** What a screen asks for: the name of an answer, and its query. */
export type ScreenQueries = { readonly [Name in keyof AdminAnswers]?: string }

export type Admin = ReturnType<typeof createAdmin>

export function createAdmin(token: string) {
  const ask = async (path: string, method: 'GET' | 'POST') =>
    (await send(`../admin/${path}`, { token, method })).json()
  const get = async <Name extends keyof AdminAnswers>(
    name: Name,
    query = '',
  ): Promise<AdminAnswers[Name]> => {
    const answer = await ask(pathOf(name, query), 'GET')
    // Every screen shows what the ledger says. What it said last stays meanwhile.
    if (name === 'status' && Array.isArray(answer?.problems) && answer.mints === undefined)
      throw new Refused(503, 'The ledger of the facilitator does not answer. Trying again.')
    return answer
  }
  return {
    get,
    /** Every page of a list, one after the other. */
    async *pages<Name extends 'payments' | 'mints'>(name: Name, query = '') {
      for (let after = ''; ; ) {
        const page = await get(name, `${query}&limit=500${after}`)
        yield page
        if (page.next === undefined) return
        after = `&after=${page.next}`
      }
    },
    post: (path: string) => ask(path, 'POST') as Promise<Readonly<Record<string, unknown>>>,
  }
}

/** One payment is named by its path, everything else by a query. */
const pathOf = (name: keyof AdminAnswers, query: string) =>
  name === 'payment' ? `payments/${encodeURIComponent(query)}` : `${name}${query && `?${query}`}`
