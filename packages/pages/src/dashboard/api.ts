/** Calls of the administrative surface. The token lives here, in memory, and goes into one header of this origin. */
import type { AdminAnswers } from '@svc-zerc20/facilitator'
import { send } from '../ask.js'

export type { AdminAnswers }
export type Payment = AdminAnswers['payments']['payments'][number]
export type Status = AdminAnswers['status']
export type WaitReason = NonNullable<Payment['waiting']>['reason']

/** What a screen asks for: the name of an answer, and its query. */
export type ScreenQueries = { readonly [Name in keyof AdminAnswers]?: string }

export type Admin = ReturnType<typeof createAdmin>

export function createAdmin(token: string) {
  const ask = async (path: string, method: 'GET' | 'POST') =>
    (await send(`../admin/${path}`, { token, method })).json()
  const get = <Name extends keyof AdminAnswers>(name: Name, query = '') =>
    ask(pathOf(name, query), 'GET') as Promise<AdminAnswers[Name]>
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
