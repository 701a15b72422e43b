/** `quote`, `inspect` and `pay`. */
import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { type Address, type BaseUnits, textTable } from '@svc-zerc20/protocol'
import { type End, exitAt } from '../outcome.js'
import type { AssembledPayer } from '../payer/assemble-payer.js'
import type { Bought, Payment, PayStep } from '../payer/bought.js'
import { cheapestOf, type Quote, type QuotedOffer } from '../payer/quote.js'
import { quoteResult } from '../payer/results.js'
import { type ExitCode, exitCodes, PayerError } from '../payer-error.js'
import { type Io, paint, type Report } from './output.js'
import { cannotWrite, type PutAnswer } from './output-path.js'
import { createHeldSignals } from './stop-signals.js'

/** Largest body that is printed inside JSON. */
const jsonBodyBytesMax = 1_048_576

export async function quote(payer: AssembledPayer, request: Request): Promise<Report> {
  const quoted = await payer.quote(request)
  const offer = cheapestOf(quoted) ?? quoted.offers[0]
  const price = offer && (await priceOf(payer, offer))
  const text = offer
    ? `${price}${offer.isAllowed ? '' : ', which your limits refuse: svc-pay inspect says why'}\n`
    : freeText(quoted)
  return { exitCode: codeOf(quoted), result: await quoteResult(payer, quoted), text }
}

export async function inspect(payer: AssembledPayer, request: Request, io: Io): Promise<Report> {
  const quoted = await payer.quote(request)
  const parts = await Promise.all(quoted.offers.map((offer) => offerText(payer, offer, io)))
  const said =
    quoted.description === undefined ? '' : `the seller says   ${JSON.stringify(quoted.description)}\n`
  const text =
    parts.length === 0 ? freeText(quoted) : `${quoted.method} ${quoted.url}\n${said}${parts.join('\n')}`
  return { exitCode: codeOf(quoted), result: await quoteResult(payer, quoted), text }
}

const codeOf = ({ offers }: Quote): ExitCode =>
  offers.length === 0 || offers.some(({ isAllowed }) => isAllowed) ? exitCodes.ok : exitCodes.refused

function freeText({ status, otherSchemes }: Quote): string {
  if (status !== 402) return `nothing to pay: the answer is ${status}\n`
  return `no offer that this payer can pay${otherSchemes.length > 0 ? `; offered is ${otherSchemes.join(', ')}` : ''}\n`
}

async function priceOf(payer: AssembledPayer, { offer, fee }: QuotedOffer): Promise<string> {
  const tokens = await payer.chain.inTokens(offer.token, offer.amount)
  const ofItFee = fee === undefined ? '' : `, of it ${fee} fee`
  return `${tokens === undefined ? '' : `${tokens} = `}${offer.amount} base units of ${offer.token}${ofItFee}`
}

async function offerText(payer: AssembledPayer, quoted: QuotedOffer, io: Io): Promise<string> {
  const { offer, verdicts, fee } = quoted
  const tokens = await payer.chain.inTokens(offer.token, offer.amount)
  const marks = { yes: ['green', 'ok'], no: ['red', 'refused'], ask: ['yellow', 'asks you'] } as const
  const facts: [string, string][] = [
    ['price', tokens ?? 'the token does not tell its decimals'],
    ['amount', `${offer.amount} base units`],
    ['fee', fee === undefined ? 'none shown' : `${fee} base units, part of the amount`],
    ['token', offer.token],
    ['network', `eip155:${offer.chainId}`],
    ['burn address', `${offer.payTo}, for this offer alone`],
    ['helper', offer.helper ?? 'none: only a self-transfer can pay this'],
    ['expires', new Date(offer.expiresAt * 1_000).toISOString()],
    ['challenge', offer.challengeNonce],
  ]
  const rules = verdicts.map(({ rule, passes, asked, limit }) => {
    const [colour, word] = marks[passes]
    return [paint(io, colour, word.padEnd(8)), rule, `asked ${asked}`, `allowed ${limit}`]
  })
  return `${textTable(facts)}\n${textTable(rules)}`
}

export type PayCommand = {
  readonly max: BaseUnits | undefined
  readonly dryRun: boolean
  readonly output: string | undefined
  /** Writes into the folder of `output`. */
  readonly put?: PutAnswer | undefined
  readonly json: boolean
}

export async function pay(
  payer: AssembledPayer,
  request: Request,
  options: PayCommand,
  io: Io,
): Promise<Report> {
  if (options.dryRun) return inspect(payer, request, io)
  const say = (line: string) => io.stderr.write(`${paint(io, 'dim', line)}\n`)
  const signals = createHeldSignals(() => say('a payment is on its way: this ends when its answer is here'))
  // Steps are printed in order, and all of them before the purchase succeeds or fails.
  let said = Promise.resolve()
  const onStep = (step: PayStep) => {
    if (['resuming', 'signing', 'presenting'].includes(step.step)) signals.hold()
    if (!options.json) said = said.then(() => sayStep(payer, step, say))
  }
  try {
    const bought = await payer.buy(request, { max: options.max, onStep }).finally(() => said)
    if (signals.wasTold() && (await bought.keepForLater())) {
      throw new PayerError('answer_kept', 'the process was told to end')
    }
    const { payment, response, end } = bought
    if (payment && end === 'paid' && !options.json) say(await paidText(payer, payment))
    if (response.status >= 400 && !options.json) say(answeredText(response.status, end))
    return await purchaseReport(bought, options)
  } finally {
    signals.release()
  }
}

const answeredText = (status: number, end: End) =>
  end === 'pending'
    ? `the seller answered ${status}; the same request again, or svc-pay resume, presents the same payment`
    : `the seller answered ${status}`

async function paidText(
  payer: AssembledPayer,
  { token, amount, transaction, isResumed }: Payment,
): Promise<string> {
  const tokens = await payer.chain.inTokens(token as Address, BigInt(amount))
  const burned =
    transaction === undefined ? '; the chain does not show its burn yet' : `, burned in ${transaction}`
  return `paid ${tokens ?? `${amount} base units`}${isResumed ? ' by an earlier request' : ''}${burned}`
}

async function sayStep(payer: AssembledPayer, step: PayStep, say: (line: string) => void): Promise<void> {
  if (step.step === 'resuming') {
    const { challengeNonce, accepted } = step.record
    const tokens = await payer.chain.inTokens(accepted.asset as Address, BigInt(accepted.amount))
    const price = tokens ?? `${accepted.amount} base units`
    say(`this was paid before, with ${price}, by payment ${challengeNonce}: going on with that one`)
  }
  if (step.step === 'offered') say(`asked for ${await priceOf(payer, step.chosen)}`)
  if (step.step === 'signing') say('signing the payment')
  if (step.step === 'presenting') say(`presenting payment ${step.challengeNonce}, waiting for its burn`)
}

/** The bought answer and its cost. The body goes to a file or to standard output. */
async function purchaseReport(
  { response, payment, end, handedOver, keepForLater }: Bought,
  { output, put, json }: Pick<PayCommand, 'output' | 'put' | 'json'>,
): Promise<Report> {
  const body = Buffer.from(await response.arrayBuffer())
  // An answer that the payment did not buy goes nowhere as if it were bought.
  const target = end === 'pending' ? undefined : output
  if (target !== undefined) {
    await put?.(basename(target), (aside) => writeFile(aside, body, { flag: 'wx' })).catch(async (cause) => {
      if (!(await keepForLater())) throw cannotWrite(target, cause)
      throw new PayerError('answer_kept', `${target} cannot be written: ${cause.message}`, { cause })
    })
  }
  const isLeftOut = json && output === undefined && body.length > jsonBodyBytesMax
  if (isLeftOut) await keepForLater()
  const contentType = response.headers.get('content-type') ?? undefined
  const result = {
    status: response.status,
    end,
    contentType,
    bytes: body.length,
    payment,
    ...(target !== undefined ? { output } : json ? bodyResult(body, payment !== undefined) : {}),
  }
  return {
    exitCode: exitCodes[exitAt[end]],
    result,
    text: target !== undefined ? `${body.length} bytes in ${target}\n` : output === undefined ? body : '',
    ...(!isLeftOut && { written: handedOver }),
  }
}

function bodyResult(body: Buffer, isBought: boolean): Record<string, unknown> {
  if (body.length > jsonBodyBytesMax) {
    return {
      bodyLeftOut: `too large for JSON; ${isBought ? 'svc-pay resume writes it to a file' : 'use --output'}`,
    }
  }
  const text = body.toString('utf8')
  return Buffer.from(text, 'utf8').equals(body) ? { body: text } : { bodyBase64: body.toString('base64') }
}
