/** The payment that the path of a request names. Whatever is wrong with the nonce, the answer is that there is none. */
import { parseChallengeNonce, reject } from '@svc-zerc20/protocol'
import type { FastifyRequest } from 'fastify'
import type { HistoryPayment } from '../../history/payment.js'
import type { HistoryBooks } from '../../history/questions.js'

export type OnePayment = { Params: { challengeNonce: string } }

/** The same for a payment of somebody else and for none. */
export const noSuchPayment = reject('not_found', 'no such payment')

export async function paymentNamedBy(
  { params }: FastifyRequest<OnePayment>,
  books: Pick<HistoryBooks, 'find'>,
): Promise<HistoryPayment | undefined> {
  const nonce = parseChallengeNonce(params.challengeNonce)
  return nonce && books.find(nonce)
}
