/**
 * Thousands of requests against the facilitator as a daemon. The draw depends on the seed alone; a failure says which
 * one it was: `SEED=… CASES=… npx vitest run test/fuzz`. `npm run test:fuzz` sends ten thousand.
 */
import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { type LocalNetwork, startLocalNetwork } from '@svc-zerc20/devnet'
import { reasons } from '@svc-zerc20/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { facilitatorKiB, growthKiBMax } from '../support/growth.js'
import { createPayment, type Payment } from './payments.js'
import { rawRequests, sendRaw } from './raw.js'
import { describeRequest, type FuzzAnswer, type FuzzRequest, requests, send } from './requests.js'

/** In `npm test`. */
const casesInShort = 4_000
const seed = Number(process.env.SEED ?? 402)
const cases = Number(process.env.CASES ?? casesInShort)
const rawCases = Math.ceil(cases / 10)
const atOnce = 16
const payments = 100
const openMax = payments + 60
/** The facilitator's limit. It may close the connection before a larger body is sent completely. */
const bodyBytesMax = 65_536

/** Allowed refusals of a healthy daemon. Any other status above 499 is a defect. */
const documented503 = new Set(['challenge_limit', 'address_pool_empty', 'relayer_busy'])

let net: LocalNetwork
let paid: Payment[]
const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
beforeAll(async () => {
  net = await startLocalNetwork({ powBits: 1, config: { daemon: { max_open_challenges: openMax } } })
  const burnTxHash = await net.faucet.sendNative('0x00000000000000000000000000000000000000aa', 1n)
  paid = []
  while (paid.length < payments) {
    const some = Array.from({ length: 10 }, () => createPayment(net.facilitatorUrl, burnTxHash))
    paid.push(...(await Promise.all(some)))
  }
})
afterAll(async () => {
  agent.destroy()
  await net.close()
})

/** Output of the daemon that is not an event, and error events. */
const defects = () =>
  readFileSync(join(net.directory, 'facilitator.log'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !/^\{"level":[34]0,/.test(line))

async function expectAlive(): Promise<void> {
  const response = await fetch(`${net.facilitatorUrl}/supported`)
  expect(await response.json()).toMatchObject({ kinds: [{ scheme: 'svc-zerc20' }] })
}

type AnswerBody = Partial<Record<'invalidReason' | 'errorReason' | 'reason', string>> &
  Record<string, unknown>

/** The problem with an answer, if there is one. */
function complaint({ method, body }: FuzzRequest, { status, text }: FuzzAnswer): string | undefined {
  if (status === 0) return body.length > bodyBytesMax ? undefined : 'the connection broke'
  if (method === 'HEAD') return status < 500 ? undefined : 'a server error'
  let said: AnswerBody
  try {
    said = JSON.parse(text) as AnswerBody
  } catch {
    return 'the answer is no JSON'
  }
  const reason = said.invalidReason ?? said.errorReason ?? said.reason
  if (reason === undefined)
    return status === 200 && isGood(said) ? undefined : 'neither good nor with a reason'
  if (!Object.hasOwn(reasons, reason)) return `an unknown reason ${reason}`
  if (reasons[reason as keyof typeof reasons].status !== status) return `${reason} with the wrong status`
  return status < 500 || documented503.has(reason) ? undefined : 'a server error'
}

const isGood = (body: AnswerBody) =>
  'kinds' in body || 'payTo' in body || 'phase' in body || body.isValid === true || body.success === true

/** Problems with the answers on one connection. Node's HTTP layer sends some answers without a body. */
function rawComplaints(text: string): string[] {
  return text
    .split(/^HTTP\/1\.1 (?=\d{3} )/m)
    .slice(1)
    .flatMap((answer) => {
      const status = Number(answer.slice(0, 3))
      if (status >= 500) return [`a server error ${status}`]
      const reason = /"(?:errorReason|reason)":"(\w+)"/.exec(answer)?.[1]
      const isEmpty = !answer.includes('{')
      return status < 400 || isEmpty || Object.hasOwn(reasons, reason ?? '')
        ? []
        : [`${status} without a reason`]
    })
}

describe('fault cases 22 and 23: every endpoint', () => {
  it(`answers ${cases} requests with a reason of the table (SEED=${seed})`, async () => {
    const drawn = fc.sample(requests(paid), { numRuns: cases, seed })
    const seen = new Map<string, number>()
    let issued = 0
    let residentBefore = 0
    for (let start = 0; start < cases; start += atOnce) {
      if (residentBefore === 0 && start >= cases / 5) residentBefore = facilitatorKiB(net)
      const batch = drawn.slice(start, start + atOnce)
      const answers = await Promise.all(batch.map((each) => send(net.facilitatorUrl, agent, each)))
      for (const [i, each] of batch.entries()) {
        const answer = answers[i] ?? { status: 0, text: '' }
        const wrong = complaint(each, answer)
        const replay = `SEED=${seed} CASES=${cases} npx vitest run test/fuzz`
        expect(
          wrong,
          `case ${start + i} of ${replay}\n${describeRequest(each)}\n→ ${answer.status} ${answer.text}`,
        ).toBeUndefined()
        if (answer.status === 200 && answer.text.includes('"payTo"')) issued += 1
        const reason = /"(?:invalidReason|errorReason|reason)":"(\w+)"/.exec(answer.text)?.[1] ?? 'none'
        seen.set(reason, (seen.get(reason) ?? 0) + 1)
      }
    }
    expect(facilitatorKiB(net) - residentBefore).toBeLessThan(growthKiBMax)
    await expectAlive()
    expect(defects()).toEqual([])
    // The ledger holds exactly the issued challenges, so only they count towards the cap.
    expect(await issueUntilFull()).toBe(openMax - payments - issued)
    if (cases < casesInShort) return
    for (const reason of reachedReasons) expect([...seen.keys()], `SEED=${seed}`).toContain(reason)
  })

  it(`survives ${rawCases} rounds of bytes that are hardly HTTP (SEED=${seed})`, async () => {
    const drawn = fc.sample(rawRequests, { numRuns: rawCases, seed })
    for (let start = 0; start < rawCases; start += atOnce) {
      const batch = drawn.slice(start, start + atOnce)
      const answers = await Promise.all(batch.map((bytes) => sendRaw(net.facilitatorUrl, bytes)))
      for (const [i, bytes] of batch.entries()) {
        const what = `case ${start + i} of SEED=${seed} CASES=${cases}\n${bytes}\n→ ${answers[i]}`
        expect(rawComplaints(answers[i] ?? ''), what).toEqual([])
      }
    }
    await expectAlive()
    expect(defects()).toEqual([])
  })
})

/** How many challenges can still be issued. */
async function issueUntilFull(): Promise<number> {
  for (let issued = 0; ; issued++) {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${net.facilitatorUrl}/challenge`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ amount: '1' }),
    })
    if (response.status !== 200) {
      expect(await response.json()).toMatchObject({ reason: 'challenge_limit' })
      return issued
    }
  }
}

/** Reasons that the full run must reach, which proves that it tests more than the parser. */
const reachedReasons = [
  'not_found',
  'method_not_allowed',
  'unsupported_media_type',
  'body_too_large',
  'malformed_request',
  'invalid_amount',
  'invalid_x402_version',
  'unsupported_scheme',
  'malformed_payload',
  'unknown_challenge',
  'requirements_mismatch',
  'value_mismatch',
  'deadline_mismatch',
  'invalid_signature',
  'signer_mismatch',
  'insufficient_funds',
  'burn_not_found',
  'burn_mismatch',
]
