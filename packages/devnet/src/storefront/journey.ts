/** Where a payment is on its way, from what the operator and the indexer know. */

import { inTokens } from '@svc-zerc20/protocol'
import type { Journey, Step, StepName } from '#storefront'
import { devnetToken } from '../deploy/deployment.js'

export type JourneySources = {
  readonly facilitatorUrl: string
  readonly adminToken: string
  readonly indexerUrl: string
}

type Told = {
  readonly payment: {
    readonly challengeNonce: string
    readonly amount: string
    readonly payTo: string
    readonly treasury?: string
    readonly issuedAt: number
    readonly claimed: boolean
    readonly transaction?: string
    readonly burn?: { readonly from: string; readonly leafIndex: string; readonly transaction: string }
    readonly acceptedAt?: number
    readonly mint?: { readonly transaction?: string; readonly value: string }
    readonly finalizedAt?: number
    readonly waiting?: { readonly reason: string; readonly since?: number }
  }
  readonly timeline: readonly { readonly at: number; readonly event: string; readonly txHash?: string }[]
}

/** Payments whose root's time is remembered. */
const rememberedMax = 100

export function createJourneys(sources: JourneySources) {
  /** The facilitator tells since when it proves, which is when the root was there, only while it does. */
  const rootAt = new Map<string, number>()

  /** The journey of a payment, or undefined when nobody knows it. */
  async function of(nonce: string): Promise<Journey | undefined> {
    const told = await askOperator<Told>(`/admin/payments/${nonce}`, sources)
    if (!told) return undefined
    const { reason, since } = told.payment.waiting ?? {}
    if (reason === 'proving' && since !== undefined) rootAt.set(nonce, since)
    for (const oldest of [...rootAt.keys()].slice(0, -rememberedMax)) rootAt.delete(oldest)
    return toJourney(told, await provedTransfers(sources), rootAt.get(nonce))
  }

  return {
    of,
    /** The payment that was claimed last, if there is one among the newest offers. */
    async newest(): Promise<Journey | undefined> {
      const page = await askOperator<{ payments: Told['payment'][] }>('/admin/payments?limit=20', sources)
      const newest = page?.payments.find(({ claimed }) => claimed)
      return newest && of(newest.challengeNonce)
    },
  }
}

async function askOperator<T>(
  path: string,
  { facilitatorUrl, adminToken }: JourneySources,
): Promise<T | undefined> {
  const response = await fetch(facilitatorUrl + path, { headers: { authorization: `Bearer ${adminToken}` } })
  return response.ok ? ((await response.json()) as T) : undefined
}

/** How many transfers the newest proved root is over. Undefined without an indexer. */
async function provedTransfers({ indexerUrl }: JourneySources): Promise<number | undefined> {
  const response = await fetch(`${indexerUrl}/status`)
  if (!response.ok) return undefined
  const [status] = (await response.json()) as { onchain_proved_index: number | null }[]
  return status?.onchain_proved_index ?? 0
}

function toJourney(
  { payment, timeline }: Told,
  transfers: number | undefined,
  rootAt: number | undefined,
): Journey {
  const { burn, mint, issuedAt, acceptedAt, finalizedAt, amount, payTo } = payment
  const signed = timeline.findLast(({ event }) => event === 'mint_signed')
  const isProved = burn !== undefined && transfers !== undefined && transfers > Number(burn.leafIndex)
  const mintTransaction = mint?.transaction ?? signed?.txHash
  const reached: [StepName, boolean, Omit<Step, 'state'>][] = [
    ['offer', payment.claimed, at(issuedAt)],
    ['burn', burn !== undefined, { ...at(acceptedAt), ...(burn && { transaction: burn.transaction }) }],
    // The facilitator begins a proof as soon as it knows a root.
    ['root', isProved || rootAt !== undefined, at(rootAt)],
    // A mint is signed as soon as its proof is made.
    ['proof', signed !== undefined, at(signed?.at)],
    [
      'mint',
      finalizedAt !== undefined,
      { ...at(finalizedAt), ...(mintTransaction && { transaction: mintTransaction }) },
    ],
  ]
  // A later step happened only because of those before it, also where nothing tells of them: no turn names a batch's proof.
  const done = reached.findLastIndex(([, isDone]) => isDone) + 1
  const goesOn = transfers !== undefined || done < 2
  const steps = reached.map(([name, , facts], index): [StepName, Step] => [
    name,
    { state: index < done ? 'done' : index === done && goesOn ? 'now' : 'ahead', ...facts },
  ])
  return {
    challengeNonce: payment.challengeNonce,
    amount: inTokens(BigInt(amount), devnetToken) ?? amount,
    payTo,
    ...(burn && { payer: burn.from }),
    ...(payment.treasury && { seller: payment.treasury }),
    ...(transfers !== undefined && { transfers }),
    steps: Object.fromEntries(steps) as Journey['steps'],
  }
}

const at = (seconds: number | undefined) => (seconds === undefined ? {} : { at: seconds })
