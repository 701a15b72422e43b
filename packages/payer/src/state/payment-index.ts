/**
 * Which payments wait, where and for which request; which ones are over; and which challenges were paid. All of it is in
 * names of empty files beside the payments, so that no purchase reads the payments of others. A killed process can leave
 * a name too many, and never one too few: what a name says is compared with its payment before anybody acts on it.
 */
import { createHash } from 'node:crypto'
import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type ChallengeNonce, parseChallengeNonce } from '@svc-zerc20/protocol'
import { PayerError } from '../payer-error.js'
import { errorCode, makeFolder, syncFolder } from './files.js'
import { hostOfRequest, type PaymentRecord } from './payments.js'

type Waiting = Pick<PaymentRecord, 'challengeNonce' | 'request'>

export type PaymentIndex = {
  /** Everything that is there as a whole. */
  all(): Promise<readonly ChallengeNonce[]>
  /** Resolves once the name survives a crash. */
  waits(payment: Waiting): Promise<void>
  waitsNoMore(payment: Waiting): Promise<void>
  waitingFor(request: string | undefined): Promise<readonly ChallengeNonce[]>
  /** All that wait at the host of a request. */
  waitingAt(request: string | undefined): Promise<readonly ChallengeNonce[]>
  /** Removes a name of a payment that does not wait there, whatever its request was. */
  waitsNotAt(request: string | undefined, nonce: ChallengeNonce): Promise<void>
  /** A payment that is over, and that is still there as a whole. */
  over(nonce: ChallengeNonce): Promise<void>
  overNoMore(nonce: ChallengeNonce): Promise<void>
  allOver(): Promise<readonly ChallengeNonce[]>
  /** Remembers until a second that a challenge is not to be paid again. */
  paid(nonce: ChallengeNonce, until: number, now: number): Promise<void>
  isPaid(nonce: ChallengeNonce): Promise<boolean>
}

export function createPaymentIndex(folder: string): PaymentIndex {
  const over = join(folder, 'over')
  const hostFolder = (request: string | undefined) => join(folder, 'waiting', short(hostOfRequest(request)))
  /** Nonces are spread evenly, unless a seller chooses them: then its own payments get slower. */
  const paidFolder = (nonce: ChallengeNonce) => join(folder, 'paid', nonce.slice(2, 4))
  const waitingName = ({ request, challengeNonce }: Waiting) => `${short(request ?? '')}.${challengeNonce}`

  async function waitingIn(request: string | undefined, prefix: string) {
    const names = await namesIn(hostFolder(request))
    return names
      .filter((name) => name.startsWith(prefix))
      .map((name) => parseChallengeNonce(name.split('.')[1]))
      .filter((nonce) => nonce !== undefined)
  }

  const noncesIn = async (place: string) =>
    (await namesIn(place)).map(parseChallengeNonce).filter((nonce) => nonce !== undefined)

  return {
    all: () => noncesIn(folder),

    async waits(payment) {
      if (await put(hostFolder(payment.request), waitingName(payment))) {
        await syncFolder(hostFolder(payment.request))
      }
    },
    waitsNoMore: (payment) => rm(join(hostFolder(payment.request), waitingName(payment)), { force: true }),
    waitingFor: (request) => waitingIn(request, `${short(request ?? '')}.`),
    waitingAt: (request) => waitingIn(request, ''),

    async waitsNotAt(request, nonce) {
      const there = hostFolder(request)
      const names = (await namesIn(there)).filter((name) => name.endsWith(`.${nonce}`))
      for (const name of names) await rm(join(there, name), { force: true })
    },

    over: async (nonce) => void (await put(over, nonce)),
    overNoMore: (nonce) => rm(join(over, nonce), { force: true }),
    allOver: () => noncesIn(over),

    async paid(nonce, until, now) {
      const shard = paidFolder(nonce)
      for (const name of await namesIn(shard)) {
        if (Number(name.split('.')[1]) <= now) await rm(join(shard, name), { force: true })
      }
      if (until > now) await put(shard, `${nonce}.${until}`)
    },
    isPaid: async (nonce) => (await namesIn(paidFolder(nonce))).some((name) => name.startsWith(`${nonce}.`)),
  }
}

const short = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32)

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw unusable(folder, error)
  }
}

/** Whether the name is new. */
async function put(folder: string, name: string): Promise<boolean> {
  const make = () => open(join(folder, name), 'wx', 0o600)
  try {
    const file = await make().catch(async (error) => {
      if (errorCode(error) !== 'ENOENT') throw error
      await makeFolder(folder)
      return make()
    })
    await file.close()
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw unusable(folder, error)
  }
}

const unusable = (folder: string, error: unknown) =>
  new PayerError('state_unusable', `${folder}: ${(error as Error).message}`, { cause: error })
