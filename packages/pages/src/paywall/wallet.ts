/** Wallets of this browser, and what they tell about a chain. */

export type Wallet = {
  readonly name: string
  /** A data URL, or nothing. */
  readonly icon?: string
  readonly request: (call: { method: string; params?: unknown[] }) => Promise<unknown>
}

type Provider = Pick<Wallet, 'request'>
type Announced = { info: { uuid: string; name: string; icon?: string }; provider: Provider }

/** Calls back with all wallets known so far, whenever another one announces itself (EIP-6963). */
export function findWallets(found: (wallets: Wallet[]) => void, waitMs: number): void {
  const wallets = new Map<string, Wallet>()
  const tell = () => found([...wallets.values()])
  addEventListener('eip6963:announceProvider', (event) => {
    const { info, provider } = (event as CustomEvent<Announced>).detail
    const icon = String(info.icon ?? '')
    wallets.set(info.uuid, {
      name: String(info.name),
      ...(icon.startsWith('data:image/') && { icon }),
      request: (call) => provider.request(call),
    })
    tell()
  })
  dispatchEvent(new Event('eip6963:requestProvider'))
  // A wallet that does not announce itself is used only where there is no other.
  setTimeout(() => {
    const { ethereum } = globalThis as { ethereum?: Provider }
    if (wallets.size === 0 && ethereum) {
      wallets.set('', { name: 'your wallet', request: (call) => ethereum.request(call) })
    }
    tell()
  }, waitMs)
}

/** The code of a wallet's error: 4001 when the person said no, 4902 when it does not know a chain. */
export const codeOf = (error: unknown): unknown => (error as { code?: unknown } | undefined)?.code

/** What the token says about itself and about an account. */
export type TokenFacts = {
  readonly name: string
  readonly symbol: string
  readonly decimals: number
  readonly balance: bigint
  readonly nonce: bigint
}

export async function readToken(wallet: Wallet, token: string, account: string): Promise<TokenFacts> {
  const [name, symbol, decimals, balance, nonce] = await Promise.all([
    call(wallet, token, '06fdde03').then(textIn),
    call(wallet, token, '95d89b41').then(textIn),
    call(wallet, token, '313ce567').then(numberIn),
    balanceOf(wallet, token, account),
    call(wallet, token, '7ecebe00', account).then(numberIn),
  ])
  return { name, symbol, decimals: Number(decimals), balance, nonce }
}

export const balanceOf = (wallet: Wallet, token: string, account: string): Promise<bigint> =>
  call(wallet, token, '70a08231', account).then(numberIn)

/** Calls a function of the token by its selector, with an address where it takes one. */
async function call({ request }: Wallet, to: string, selector: string, account?: string): Promise<string> {
  const data = `0x${selector}${account?.slice(2).padStart(64, '0') ?? ''}`
  return String(await request({ method: 'eth_call', params: [{ to, data }, 'latest'] })).slice(2)
}

const numberIn = (hex: string) => BigInt(`0x${hex || '0'}`)

/** An ABI string: where it begins, how long it is, and its UTF-8. */
function textIn(hex: string): string {
  const word = (at: number) => Number(numberIn(hex.slice(2 * at, 2 * at + 64)))
  const from = word(0)
  const bytes = hex.slice(2 * from + 64, 2 * (from + 32 + word(from))).match(/../g) ?? []
  return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 16)))
}
