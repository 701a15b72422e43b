/** Decides which verbs of a paid route are sold and which are free, and answers the others. */
import { SvcError } from '@svc-zerc20/protocol'
import { isSellable } from '../scheme/route-offer.js'
import { type Answer, refuse } from './answer.js'

export type VerbTerms = {
  /** Verbs that need a payment. Default: GET. */
  readonly methods?: readonly string[] | undefined
  /** Verbs that reach the handler without a payment. Default: none. */
  readonly free?: readonly string[] | undefined
}

/** `sold` and `free` requests continue. All others are answered here and never reach the handler. */
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
    // Frameworks pass HEAD to the handler of GET. That would run the handler unpaid and give away the length, type and
    // location of the resource.
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
