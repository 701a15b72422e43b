/** Which verbs of a paid route are sold, which are free, and what the others are answered. */
import { SvcError } from '@svc-zerc20/protocol'
import { isSellable } from '../scheme/route-offer.js'
import { type Answer, refuse } from './answer.js'

export type VerbTerms = {
  /** Verbs that need a payment. Default: GET. */
  readonly methods?: readonly string[] | undefined
  /** Verbs that reach the handler without one. Default: none. */
  readonly free?: readonly string[] | undefined
}

/** `sold` and `free` go on; everything else is answered here, and the handler never hears of it. */
export type VerbJudge = (method: string) => 'sold' | 'free' | Answer

export function createVerbJudge({ methods = ['GET'], free = [] }: VerbTerms): VerbJudge {
  for (const method of [...methods, ...free]) {
    if (method === method.toUpperCase() && method !== '') continue
    throw new SvcError('invalid_method', `methods are written in capitals, not ${JSON.stringify(method)}`)
  }
  const wrong = methods.filter((method) => !isSellable(method) || free.includes(method))
  if (methods.length === 0 || wrong.length > 0) {
    throw new SvcError('invalid_method', `a paid route cannot sell ${wrong.join(', ') || 'no method'}`)
  }
  const allow = [...new Set([...methods, ...free, 'OPTIONS'])].join(', ')
  return (method) => {
    if (methods.includes(method)) return 'sold'
    if (free.includes(method)) return 'free'
    // Frameworks hand HEAD to the handler of GET. It would run it for nothing, and length, type and location
    // of what is sold are part of what is sold.
    if (method === 'HEAD' && methods.includes('GET')) {
      return refuse(402, 'payment_required', {
        error: 'This resource is sold, its headers included.',
        action: 'Send a GET to get an offer.',
      })
    }
    if (method === 'OPTIONS') return { status: 204, headers: { allow } }
    return refuse(
      405,
      'method_not_allowed',
      {
        error: `This resource is sold under ${methods.join(', ')}.`,
        action: 'Use one of the methods in Allow.',
      },
      { allow },
    )
  }
}
