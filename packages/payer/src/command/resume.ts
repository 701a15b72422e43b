/** `resume`: finishes interrupted payments, and tells what became of each. The command never pays anew. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { textTable } from '@svc-zerc20/protocol'
import type { AssembledPayer } from '../payer/assemble-payer.js'
import { PayerError } from '../payer-error.js'
import type { PaymentRecord } from '../payment/payment-memory.js'
import { makeFolder } from '../store/files.js'
import { exitCodeOf, exitCodes } from './exit-codes.js'
import type { Report } from './output.js'

type Fate = {
  readonly challengeNonce: string
  readonly request: string
  readonly became: 'served' | 'pending' | 'over' | 'in use' | 'needs its body' | 'failed'
  readonly detail: string
}

export async function resume(payer: AssembledPayer, folder: string): Promise<Report> {
  const records = (await payer.state?.memory.list()) ?? []
  const fates: Fate[] = []
  for (const record of records) {
    if (record.delivery === 'undelivered') fates.push(await finish(payer, record, folder))
    if (record.delivery === 'open') fates.push(fateOf(record, 'in use', 'another process is at it'))
  }
  await payer.scheme.guard.reconcile()
  const { reservations } = await payer.totals.state()
  const open = Object.entries(reservations).map(([challengeNonce, { amount, expiresAt }]) => ({
    ...{ challengeNonce, amount, expiresAt },
  }))
  const isPending = fates.some(({ became }) => !['served', 'over'].includes(became))
  const lines = fates.map(({ became, request, detail }) => [became, request, detail])
  const text = [
    fates.length === 0 ? 'nothing was interrupted\n' : textTable(lines),
    ...open.map(({ challengeNonce, amount, expiresAt }) => {
      const until = new Date(expiresAt * 1_000).toISOString()
      return `${amount} base units stay reserved for ${challengeNonce}, at least until ${until}\n`
    }),
  ]
  return {
    exitCode: isPending ? exitCodes.pending : exitCodes.ok,
    result: { payments: fates, reserved: open },
    text: text.join(''),
  }
}

async function finish(payer: AssembledPayer, record: PaymentRecord, folder: string): Promise<Fate> {
  const [method = '', url = ''] = (record.request ?? '').split(/ (.*)/s)
  if (method !== 'GET') {
    // Headers and body of a request are not kept: they are the caller's, and may be secret or large.
    return fateOf(
      record,
      'needs its body',
      'make the same request again with svc-pay pay; this payment is presented first',
    )
  }
  try {
    const { response, payment } = await payer.resume(new Request(url))
    if (response.status === 402 || payment === undefined) {
      return fateOf(record, 'over', 'the seller does not take this payment any more; nothing new was paid')
    }
    if (response.status >= 400) return fateOf(record, 'pending', `the seller answered ${response.status}`)
    const path = join(folder, `${record.challengeNonce}.body`)
    await makeFolder(folder)
    await writeFile(path, Buffer.from(await response.arrayBuffer()), { mode: 0o600 })
    return fateOf(record, 'served', `the answer is in ${path}`)
  } catch (error) {
    if (error instanceof PayerError && error.code === 'not_signed') {
      return fateOf(record, 'over', 'nothing was ever signed for it, and nothing was paid')
    }
    const detail = error instanceof PayerError ? `${error.code}: ${error.detail}` : (error as Error).message
    return fateOf(record, exitCodeOf(error) === exitCodes.pending ? 'pending' : 'failed', detail)
  }
}

const fateOf = (
  { challengeNonce, request = 'unknown' }: PaymentRecord,
  became: Fate['became'],
  detail: string,
): Fate => ({
  ...{ challengeNonce, request, became, detail },
})
