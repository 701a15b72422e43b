/** A wallet for tests: announced to the page like any other, with a real key behind it, in the test's process. */
import type { Page } from 'playwright-core'
import type { LocalAccount, TypedDataDefinition } from 'viem'

export type TestWallet = {
  account: LocalAccount
  name: string
  chainId: number
  /** Whether it knows the chain that a page wants it to switch to. */
  knowsChain: boolean
  /** What its person says no to, once: a method, or the primary type of a signature. */
  declines: string[]
  /** What it gives instead of a signature, as the wallet of a contract does. */
  signature?: string
  /** The account that its person changed to after the page saw the first one. */
  signsAs?: LocalAccount
  /** It shows no account: it is locked. */
  isLocked: boolean
  /** Its answers to signatures come when this is over. */
  patience: Promise<unknown>
  /** How pages find it: by its announcement, or as the one wallet of the window, like old ones. */
  isOld: boolean
  /** Primary types of what was signed, in order. */
  readonly signed: string[]
}

export const walletFor = (account: LocalAccount): TestWallet => ({
  account,
  name: 'Test Wallet',
  chainId: 31337,
  knowsChain: true,
  declines: [],
  isOld: false,
  isLocked: false,
  patience: Promise.resolve(),
  signed: [],
})

type Call = { readonly method: string; readonly params?: readonly unknown[] }
type Refusal = { readonly code: number; readonly message: string }

/** Gives the page this wallet. It asks the node of `rpcUrl`, as a wallet does. */
export async function giveWallet(page: Page, wallet: TestWallet, rpcUrl: string): Promise<void> {
  const refuse = (code: number, message: string): { refusal: Refusal } => ({ refusal: { code, message } })
  const isDeclined = (what: string) => {
    const at = wallet.declines.indexOf(what)
    if (at >= 0) wallet.declines.splice(at, 1)
    return at >= 0
  }
  async function answer({ method, params = [] }: Call): Promise<unknown> {
    if (isDeclined(method)) return refuse(4001, 'User rejected the request.')
    switch (method) {
      case 'eth_requestAccounts':
        // In lower case, as the most common wallets do.
        return wallet.isLocked ? [] : [wallet.account.address.toLowerCase()]
      case 'eth_chainId':
        return `0x${wallet.chainId.toString(16)}`
      case 'wallet_switchEthereumChain': {
        if (!wallet.knowsChain) return refuse(4902, 'Unrecognized chain ID.')
        wallet.chainId = Number((params[0] as { chainId: string }).chainId)
        return null
      }
      case 'personal_sign': {
        wallet.signed.push('message')
        return wallet.account.signMessage({ message: { raw: params[0] as `0x${string}` } })
      }
      case 'eth_signTypedData_v4': {
        const typedData = JSON.parse(String(params[1])) as TypedDataDefinition
        const type = String(typedData.primaryType)
        if (isDeclined(type)) return refuse(4001, 'User rejected the request.')
        wallet.signed.push(type)
        await wallet.patience
        return wallet.signature ?? (wallet.signsAs ?? wallet.account).signTypedData(typedData)
      }
      default: {
        const response = await fetch(rpcUrl, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        })
        return ((await response.json()) as { result: unknown }).result
      }
    }
  }
  // A page may have several.
  given += 1
  await page.exposeFunction(`askTestWallet${given}`, answer)
  await page.addInitScript(announce, { name: wallet.name, isOld: wallet.isOld, id: given })
}

let given = 0

/** Runs in the page. */
function announce({ name, isOld, id }: { name: string; isOld: boolean; id: number }): void {
  type Asked = { refusal?: { code: number; message: string } } | null
  const asks = globalThis as unknown as Record<string, (call: object) => Promise<Asked>>
  const provider = {
    request: async (call: object) => {
      const answer = await asks[`askTestWallet${id}`]?.(call)
      if (answer?.refusal) throw Object.assign(new Error(answer.refusal.message), answer.refusal)
      return answer
    },
  }
  if (isOld) {
    Object.assign(globalThis, { ethereum: provider })
    return
  }
  const icon =
    'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"%3E%3Crect width="8" height="8" fill="%23d97706"/%3E%3C/svg%3E'
  const detail = Object.freeze({
    info: { uuid: `350670db-19fa-4704-a166-${id}`, name, icon, rdns: 'example.test' },
    provider,
  })
  const tell = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
  addEventListener('eip6963:requestProvider', tell)
  tell()
}
