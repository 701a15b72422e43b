/** The keys behind the development wallets of a page. They are public knowledge, and sign whatever they are asked to. */
import type { Hex, TypedDataDefinition } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { developmentRoles } from '../node/accounts.js'

export type WalletAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }

type Call = { readonly method?: unknown; readonly params?: readonly unknown[]; readonly owner?: unknown }

/** What a page may ask the chain through the wallet: reading, and nothing that moves the clock or the faults of a devnet. */
const reading = new Set(['eth_call', 'eth_getBalance', 'eth_blockNumber', 'eth_getTransactionReceipt'])

export function createDevWallet({ rpcUrl, chainId }: { readonly rpcUrl: string; readonly chainId: number }) {
  const payer = privateKeyToAccount(developmentRoles.payer.privateKey)
  const provider = privateKeyToAccount(developmentRoles.provider.privateKey)
  return async (call: unknown): Promise<WalletAnswer> => {
    const { method, params = [], owner } = call as Call
    const account = owner === 'provider' ? provider : payer
    switch (method) {
      case 'eth_requestAccounts':
      case 'eth_accounts':
        return { result: [account.address] }
      case 'eth_chainId':
        return { result: `0x${chainId.toString(16)}` }
      case 'eth_signTypedData_v4':
        return {
          result: await account.signTypedData(JSON.parse(String(params[1])) as TypedDataDefinition),
        }
      case 'personal_sign':
        return { result: await account.signMessage({ message: { raw: params[0] as Hex } }) }
      default:
        return typeof method === 'string' && reading.has(method)
          ? askChain(rpcUrl, method, params)
          : { error: { code: 4200, message: `The development wallet does not know ${method}.` } }
    }
  }
}

async function askChain(rpcUrl: string, method: string, params: readonly unknown[]): Promise<WalletAnswer> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return (await response.json()) as WalletAnswer
}
