/**
 * `resume`: gives out answers that were paid for, and presents interrupted payments again. It tells what became of each,
 * and never signs anything.
 */
import { constants } from 'node:fs'
import { access, copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { textTable } from '@svc-zerc20/protocol'
import type { AssembledPayer } from '../payer/assemble-payer.js'
import type { Bought } from '../payer/bought.js'
import { exitCodes, exitOf, PayerError } from '../payer-error.js'
import { makeFolder } from '../state/files.js'
import type { KeptAnswer } from '../state/kept-answers.js'
import type { PaymentRecord } from '../state/payments.js'
import type { Io, Report } from './output.js'
import { cannotWrite, type PutAnswer, putAnswersIn } from './output-path.js'
import { createHeldSignals } from './stop-signals.js'

type Fate = {
  readonly challengeNonce: string
  readonly request: string
  readonly became: 'served' | 'half' | 'pending' | 'over' | 'in use' | 'needs its body' | 'failed'
  readonly detail: string
}

/** Where answers go: the folder as it is told, and the way into it. */
type Out = { readonly folder: string; readonly put: PutAnswer }

const pendingFates: readonly Fate['became'][] = ['pending', 'in use', 'needs its body']

export async function resume(
  payer: AssembledPayer,
  folder: string,
  stateFolder: string | undefined,
  io: Pick<Io, 'stderr'>,
): Promise<Report> {
  const put = await makeFolder(folder)
    .then(() => access(folder, constants.W_OK))
    .then(() => putAnswersIn(folder, stateFolder))
    .catch((cause) => Promise.reject(cannotWrite(folder, cause)))
  const out = { folder, put }
  const signals = createHeldSignals(() => io.stderr.write('this ends when the answers are here\n'))
  signals.hold()
  const fates: Fate[] = []
  let fault: string | undefined
  try {
    for (const record of await payer.state.memory.list()) {
      if (signals.wasTold()) break
      // What a seller says to have given before is asked for no more.
      if (record.delivery === 'undelivered' && !record.isTold) fates.push(await finish(payer, record, out))
      if (record.delivery === 'open') fates.push(fateOf(record, 'in use', 'another process is at it'))
    }
    await giveOut(payer, out, fates)
  } catch (error) {
    if (fates.length === 0) throw error
    fault = (error as Error).message
  } finally {
    signals.release()
  }
  await payer.scheme.guard.reconcile().catch(() => undefined) // what became of payments is told in any case
  return reportOf(fates, fault, payer)
}

/** `fault`: what kept the other payments from being looked at. */
async function reportOf(
  fates: readonly Fate[],
  fault: string | undefined,
  payer: AssembledPayer,
): Promise<Report> {
  const reservations = await payer.state.totals.state().then(
    (state) => state.reservations,
    () => ({}), // what became of payments is told in any case
  )
  const open = Object.entries(reservations).map(([challengeNonce, { amount, expiresAt }]) => ({
    challengeNonce,
    amount,
    expiresAt,
  }))
  const isPending = fates.some(({ became }) => pendingFates.includes(became))
  const isFailed = fault !== undefined || fates.some(({ became }) => became === 'failed')
  const lines = fates.map(({ became, request, detail }) => [became, request, detail])
  const text = [
    fates.length === 0 ? 'nothing was interrupted\n' : textTable(lines),
    fault === undefined ? '' : `the others could not be looked at: ${fault}\n`,
    ...open.map(({ challengeNonce, amount, expiresAt }) => {
      const until = new Date(expiresAt * 1_000).toISOString()
      return `${amount} base units stay reserved for ${challengeNonce}, at least until ${until}\n`
    }),
  ]
  return {
    exitCode: isPending ? exitCodes.pending : isFailed ? exitCodes.failed : exitCodes.ok,
    result: { payments: fates, reserved: open, fault },
    text: text.join(''),
  }
}

/** Finishes one payment, by its kept answer or by presenting it once more. */
async function finish(payer: AssembledPayer, record: PaymentRecord, out: Out): Promise<Fate> {
  const isKept = (await payer.state.kept?.find(record.challengeNonce))?.isComplete === true
  const isSigned = record.payload !== undefined || record.burn !== undefined
  if (!isKept && !isSigned && record.outrunNonce !== undefined) {
    return fateOf(record, 'pending', 'it needs a new signature: make the same request again with svc-pay pay')
  }
  if (!isKept && isSigned && !/^(?:GET|HEAD) /.test(record.request ?? '')) {
    // Headers and body of a request are not kept: they are the caller's, and may be secret or large.
    return fateOf(
      record,
      'needs its body',
      'make the same request again with svc-pay pay; this payment is presented first',
    )
  }
  try {
    const bought = await payer.resume(record)
    return bought ? await writeOut(record, bought, out) : fateOf(record, 'over', 'nothing was burned for it')
  } catch (error) {
    if (error instanceof PayerError && error.code === 'not_signed') {
      return fateOf(record, 'over', 'nothing was ever signed for it, and nothing was paid')
    }
    const detail = error instanceof PayerError ? `${error.code}: ${error.detail}` : (error as Error).message
    return fateOf(record, exitOf(error) === 'pending' ? 'pending' : 'failed', detail)
  }
}

async function writeOut(record: PaymentRecord, bought: Bought, { folder, put }: Out): Promise<Fate> {
  const { response, end, handedOver, keepForLater } = bought
  if (end !== 'paid') return fateOf(record, 'pending', `the seller answered ${response.status}`)
  const name = `${record.challengeNonce}.body`
  const path = join(folder, name)
  try {
    const body = Buffer.from(await response.arrayBuffer())
    await put(name, (aside) => writeFile(aside, body, { flag: 'wx', mode: 0o600 }))
  } catch (cause) {
    await keepForLater()
    throw new PayerError('answer_kept', `${path} cannot be written: ${(cause as Error).message}`, { cause })
  }
  await handedOver()
  return fateOf(record, 'served', `the answer is in ${path}`)
}

/** Gives out what no payment waits for any more: answers that were handed on in part, and halves of lost ones. */
async function giveOut(payer: AssembledPayer, { folder, put }: Out, fates: Fate[]): Promise<void> {
  const { kept, memory } = payer.state
  for (const answer of (await kept?.list()) ?? []) {
    const { challengeNonce, isComplete, bytes, path } = answer
    const record = await memory.get(challengeNonce)
    if (record?.delivery === 'open' || (record?.delivery === 'undelivered' && !record.isTold)) continue
    const name = `${challengeNonce}.${isComplete ? 'body' : 'half'}`
    const target = join(folder, name)
    const of = { challengeNonce, request: record?.request ?? requestOf(answer) }
    const isWritten = await put(name, (aside) => copyFile(path, aside, constants.COPYFILE_EXCL)).then(
      () => true,
      () => false,
    )
    if (isWritten) await kept?.drop(challengeNonce)
    const detail = isComplete
      ? `the answer is in ${target}`
      : `the first ${bytes} bytes of the answer are in ${target}`
    if (isWritten) fates.push(fateOf(of, isComplete ? 'served' : 'half', detail))
    else fates.push(fateOf(of, 'pending', `${target} cannot be written; the answer stays kept`))
  }
}

const requestOf = ({ url }: KeptAnswer) => url || 'unknown'

const fateOf = (
  { challengeNonce, request = 'unknown' }: Pick<PaymentRecord, 'challengeNonce' | 'request'>,
  became: Fate['became'],
  detail: string,
): Fate => ({
  challengeNonce,
  request,
  became,
  detail,
})
