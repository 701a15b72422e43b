/**
 * The events of the ledger from their lines. A start reads every line ever written, so the frequent ones are read
 * by expressions that know how this version forms them; anything else goes the long way and means the same.
 */
import type { Address, BaseUnits, ChallengeNonce, Payload, TxHash, UnixSeconds } from '@svc-zerc20/protocol'
import type { Burn, Challenge, Finalized } from '../payment/records.js'
import { fromFields, type LedgerEvent, readPayload } from './events.js'
import { fieldsOf, type JournalLine, linePattern } from './journal/line.js'

/** Throws `SvcError('journal_corrupt')` when the line says something no event can. */
export function readEvent(line: JournalLine): LedgerEvent {
  return readKnownForm(line.text) ?? fromFields(fieldsOf(line))
}

type Groups = readonly (string | undefined)[]
type Form = { readonly pattern: RegExp; read(groups: Groups): LedgerEvent }

const eventStart = '"event":"'

function readKnownForm(text: string): LedgerEvent | undefined {
  const start = text.indexOf(eventStart) + eventStart.length
  const form = forms[text.slice(start, text.indexOf('"', start))]
  const found = form?.pattern.exec(text)
  return found ? form?.read(found) : undefined
}

const hex = (bytes: number) => `"(0x[0-9a-f]{${bytes * 2}})"`
/** Short enough to be exact, and below every limit a reader of the long way has. */
const number = '(0|[1-9][0-9]{0,14})'
const units = '"(0|[1-9][0-9]{0,72})"'

const challenge = [
  `"challenge":\\{"nonce":${hex(32)},"payTo":${hex(20)},"amount":${units},"listPrice":${units}`,
  `,"issuedAt":${number},"expiresAt":${number}(?:,"deadline":${number})?,"powNonce":${number}`,
  `,"treasury":${hex(20)},"issuedAtBlock":${units}\\}`,
].join('')
const challengeGroups = 10

const burn = [
  `"burn":\\{"txHash":${hex(32)},"blockNumber":${units},"blockHash":${hex(32)},"leafIndex":${units}`,
  `,"from":${hex(20)},"value":${units}\\}`,
].join('')
const burnGroups = 6

const finalized = [
  `"mint":\\{(?:"txHash":${hex(32)},)?(?:"blockNumber":${units},)?"value":${units}\\}`,
  `,"at":${number}`,
].join('')
const finalizedGroups = 4

/** Not looked into before somebody asks for it: hardly any claim is still open when the end of a journal is read. */
const permitPayload = '"payload":(\\{"challengeNonce":"[^"]*","payer":.*\\})'

const transaction = `"transaction":\\{"nonce":${number},"hash":${hex(32)},"raw":"(0x[0-9a-f]+)"\\}`
const nonces = '"nonces":\\["(0x[0-9a-f]{64}(?:","0x[0-9a-f]{64})*)"\\]'

const identity = '"identity":"([0-9a-f]{32})"(?:,"ticketed":(true|false))?'
const nonce = `"nonce":${hex(32)}`

const form = (event: LedgerEvent['event'], rest: string, read: Form['read']): Record<string, Form> => ({
  [event]: { pattern: new RegExp(`${linePattern.head}"event":"${event}",${rest}${linePattern.tail}`), read },
})

const forms: Readonly<Record<string, Form>> = {
  ...form('challenge_issued', challenge, (groups) => ({
    event: 'challenge_issued',
    challenge: challengeIn(groups, 1),
  })),
  ...form('payment_claimed', `${nonce},${identity},${permitPayload}`, readClaimed),
  ...form('burn_signed', `${nonces},${transaction}`, (groups) => readSigned('burn_signed', groups)),
  ...form('mint_signed', `${nonces},${transaction}`, (groups) => readSigned('mint_signed', groups)),
  ...form('payment_accepted', `${nonce},${burn},"at":${number}`, (groups) => ({
    event: 'payment_accepted',
    nonce: groups[1] as ChallengeNonce,
    burn: burnIn(groups, 2),
    at: Number(groups[2 + burnGroups]) as UnixSeconds,
  })),
  ...form('grant_used', nonce, (groups) => ({ event: 'grant_used', nonce: groups[1] as ChallengeNonce })),
  ...form('payment_finalized', `${nonce},${finalized}(?:,"burned":${units})?`, (groups) => {
    const burned = groups[2 + finalizedGroups]
    return {
      event: 'payment_finalized',
      nonce: groups[1] as ChallengeNonce,
      ...finalizedIn(groups, 2),
      ...(burned !== undefined && { burned: unitsIn(burned) }),
    }
  }),
  ...form(
    'payment_recorded',
    `${challenge},${identity},${burn},"at":${number},"granted":(true|false)(?:,"finalized":\\{${finalized}\\})?`,
    readRecorded,
  ),
}

function readClaimed([, nonce, identity, ticketed, payload]: Groups): LedgerEvent {
  return {
    event: 'payment_claimed',
    nonce: nonce as ChallengeNonce,
    identity: identity as string,
    ticketed: ticketed === 'true',
    payload: {
      kind: 'permit',
      read: () => readPayload(JSON.parse(payload as string)) as Payload.PermitPayload,
    },
  }
}

function readSigned(event: 'burn_signed' | 'mint_signed', groups: Groups): LedgerEvent {
  const [, nonces, nonce, hash, raw] = groups
  return {
    event,
    nonces: (nonces as string).split('","') as ChallengeNonce[],
    transaction: { nonce: Number(nonce), hash: hash as TxHash, raw: raw as `0x${string}` },
  }
}

function readRecorded(groups: Groups): LedgerEvent {
  const after = 1 + challengeGroups
  const [who, ticketed] = groups.slice(after, after + 2)
  const [at, granted] = groups.slice(after + 2 + burnGroups)
  const mint = after + 2 + burnGroups + 2
  return {
    event: 'payment_recorded',
    challenge: challengeIn(groups, 1),
    identity: who as string,
    ticketed: ticketed === 'true',
    burn: burnIn(groups, after + 2),
    at: Number(at) as UnixSeconds,
    granted: granted === 'true',
    ...(groups.at(-1) !== undefined && { finalized: finalizedIn(groups, mint) }),
  }
}

function challengeIn(groups: Groups, first: number): Challenge {
  const deadline = groups[first + 6]
  const challenge = {
    nonce: groups[first] as ChallengeNonce,
    payTo: groups[first + 1] as Address,
    amount: unitsIn(groups[first + 2]),
    listPrice: unitsIn(groups[first + 3]),
    issuedAt: Number(groups[first + 4]) as UnixSeconds,
    expiresAt: Number(groups[first + 5]) as UnixSeconds,
    deadline: Number(deadline) as UnixSeconds,
    powNonce: Number(groups[first + 7]),
    treasury: groups[first + 8] as Address,
    issuedAtBlock: unitsIn(groups[first + 9]),
  }
  if (deadline !== undefined) return challenge
  // The rare case pays for it: spreading would cost the frequent one as much as everything above.
  const { deadline: _, ...without } = challenge
  return without
}

function burnIn(groups: Groups, first: number): Burn {
  return {
    txHash: groups[first] as TxHash,
    blockNumber: unitsIn(groups[first + 1]),
    blockHash: groups[first + 2] as string,
    leafIndex: unitsIn(groups[first + 3]),
    from: groups[first + 4] as Address,
    value: unitsIn(groups[first + 5]),
  }
}

function finalizedIn(groups: Groups, first: number): Finalized {
  const [txHash, blockNumber, value, at] = groups.slice(first)
  return {
    mint: {
      ...(txHash !== undefined && { txHash: txHash as TxHash }),
      ...(blockNumber !== undefined && { blockNumber: unitsIn(blockNumber) }),
      value: unitsIn(value),
    },
    at: Number(at) as UnixSeconds,
  }
}

const unitsIn = (digits: string | undefined) => BigInt(digits as string) as BaseUnits
