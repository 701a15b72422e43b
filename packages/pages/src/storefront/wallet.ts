/**
 * The development wallet: announced like every other, with a public key that the devnet holds. It asks before it signs,
 * because that is what a wallet looks like to a person.
 */
import { inTokens } from '@svc-zerc20/protocol'
import { el } from '../dom.js'

type Call = { readonly method: string; readonly params?: readonly unknown[] }
type Answer = {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

const icon =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"%3E%3Crect width="16" height="16" fill="%23b45309"/%3E%3Cpath d="M3 5h10v7H3zM9 8h4v2H9z" fill="%23fff"/%3E%3C/svg%3E'

/** Whose key it has. */
export type Owner = 'payer' | 'provider'

/** Calls back with the typed data of each signature. */
export function announceWallet(name: string, owner: Owner, signed: (typed: TypedData) => void): void {
  const provider = {
    async request(call: Call): Promise<unknown> {
      const typed =
        call.method === 'eth_signTypedData_v4'
          ? (JSON.parse(String(call.params?.[1])) as TypedData)
          : undefined
      const text = call.method === 'personal_sign' ? textIn(String(call.params?.[0])) : undefined
      if (
        (typed && !(await confirm(typed.primaryType, linesOf(typed)))) ||
        (text && !(await confirm('a text', [text])))
      ) {
        throw Object.assign(new Error('You declined.'), { code: 4001 })
      }
      const result = await ask({ ...call, owner })
      if (typed) signed(typed)
      return result
    },
  }
  const info = { uuid: crypto.randomUUID(), name, icon, rdns: `${owner}.svc-devnet.localhost` }
  const detail = Object.freeze({ info: Object.freeze(info), provider })
  const tell = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
  addEventListener('eip6963:requestProvider', tell)
  tell()
}

export type TypedData = { readonly primaryType: string; readonly message: Readonly<Record<string, unknown>> }

async function ask(call: Call & { readonly owner: Owner }): Promise<unknown> {
  const response = await fetch('/devnet/wallet', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(call),
  })
  const { result, error } = (await response.json()) as Answer
  if (error) throw Object.assign(new Error(error.message), { code: error.code })
  return result
}

/** The page that asks has the token's symbol and decimals where it pays. */
const tokenHere = () => {
  const { symbol = '', decimals } = document.getElementById('pay')?.dataset ?? {}
  return { symbol, decimals: Number(decimals || Number.NaN) }
}

/** Amounts in tokens, and times as a clock shows them, with what is signed behind. */
const linesOf = ({ message }: TypedData) =>
  Object.entries(message).map(([name, value]) => `${name}: ${readable(name, `${value}`) ?? value}`)

function readable(name: string, value: string): string | undefined {
  if (!/^\d{1,78}$/.test(value)) return undefined
  if (name === 'deadline' && Number(value) < 1e11)
    return `${new Date(1000 * Number(value)).toLocaleString()} (${value})`
  if (name !== 'value' && name !== 'amount') return undefined
  const tokens = inTokens(BigInt(value), tokenHere())
  return tokens && `${tokens} (${value} base units)`
}

function textIn(hex: string): string {
  const bytes = hex.slice(2).match(/../g) ?? []
  return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 16)))
}

/** Shows what is about to be signed. Escape declines. */
function confirm(what: string, lines: readonly string[]): Promise<boolean> {
  const choose = (answer: string) => () => dialog.close(answer)
  const dialog = el(
    'dialog',
    { class: 'devnet-wallet', 'aria-labelledby': 'devnet-wallet' },
    el('p', { class: 'devnet-mark' }, 'Development wallet · test money · public key'),
    el('h2', { id: 'devnet-wallet' }, `Sign ${what}?`),
    el('pre', { tabindex: '0' }, lines.join('\n')),
    el(
      'div',
      { class: 'row' },
      el('button', { type: 'button', click: choose('yes') }, 'Sign'),
      el('button', { type: 'button', class: 'second', click: choose('') }, 'Decline'),
    ),
  ) as HTMLDialogElement
  // Not into the body: a page may draw that again at any time.
  document.documentElement.append(dialog)
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(dialog.returnValue === 'yes')
    })
  })
}
