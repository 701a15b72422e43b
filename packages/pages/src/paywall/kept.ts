/**
 * The payment of this address, kept in the tab until it was delivered and ten minutes longer. A reload finds it and
 * presents it again, so nothing is signed twice. The server keeps its answer for as long.
 */
import { nowMs } from '../system-clock.js'
import { ask } from './present.js'

export type Kept = {
  /** The value of PAYMENT-SIGNATURE. */
  readonly header: string
  readonly deliveredAtMs?: number
}

const keptMs = 600_000
const key = `svc-zerc20 ${location.pathname}${location.search}`
const answerKeyCookie = 'svc-paid'

/** Only in memory where a browser forbids storage. */
let inMemory: Kept | undefined

export function keep(payment: Kept): void {
  inMemory = payment
  if (payment.deliveredAtMs !== undefined) letGo()
  try {
    sessionStorage.setItem(key, JSON.stringify(payment))
  } catch {}
}

export function findKept(): Kept | undefined {
  let found = inMemory
  try {
    found = JSON.parse(sessionStorage.getItem(key) ?? 'null') ?? undefined
  } catch {}
  if (found?.deliveredAtMs === undefined || nowMs() - found.deliveredAtMs < keptMs) return found
  forget()
  return undefined
}

export function forget(): void {
  inMemory = undefined
  letGo()
  try {
    sessionStorage.removeItem(key)
  } catch {}
  setAnswerKey('', 0)
}

/** Lets other tabs pay. */
export let letGo = (): void => {}

/**
 * From the first signature on, only one tab pays, until it is closed or the payment has ended. False where another one does.
 * Some pages may have no locks.
 */
export const hold = (): Promise<boolean> =>
  new Promise((resolve) => {
    const held = (lock: Lock | null) => {
      resolve(!!lock)
      return (
        lock &&
        new Promise<void>((release) => {
          letGo = release
        })
      )
    }
    if (navigator.locks) navigator.locks.request(key, { ifAvailable: true }, held).catch(() => resolve(true))
    else resolve(true)
  })

/**
 * Whether the browser itself can open what was bought. A cookie for this path names the payment by its hash, and a server
 * of ours gives the answer that it keeps under that name. Others ignore the cookie, so this is tried before the page lets
 * go of what it has.
 */
export async function canOpen({ header }: Kept): Promise<boolean> {
  try {
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(header))
    const name = btoa(String.fromCharCode(...new Uint8Array(digest)))
    setAnswerKey(
      name.replace(/[+/=]/g, (char) => ({ '+': '-', '/': '_' })[char] ?? ''),
      keptMs / 1000,
    )
    const tried = await ask({ redirect: 'manual' })
    await tried.body?.cancel()
    if (tried.ok || tried.type === 'opaqueredirect') return true
  } catch {}
  setAnswerKey('', 0)
  return false
}

/** A semicolon would end the path, and the rest of the address would be read as attributes of the cookie. */
const answerPath = location.pathname.replace(/[^/]*;.*/, '')

function setAnswerKey(value: string, seconds: number): void {
  const secure = location.protocol === 'https:' ? '; secure' : ''
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store is not in every browser
  document.cookie = `${answerKeyCookie}=${value}; path=${answerPath}; max-age=${seconds}; samesite=strict${secure}`
}
