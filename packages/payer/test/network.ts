import { tokenAbi } from '@svc-zerc20/contracts'
import {
  type Chain,
  deployContracts,
  developmentRoles,
  minedReceipt,
  spareAccounts,
  startChain,
} from '@svc-zerc20/devnet'
import {
  type Address,
  concatHex,
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  numberToHex,
  size,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const { deployer, payer, relayer } = developmentRoles

/** A chain with all contracts and a payer who has tokens. */
export async function startNetwork() {
  const chain = await startChain()
  const { rpcUrl } = chain
  const deployed = await deployContracts({ rpcUrl, deployer, payer: payer.address })
  const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 })
  const { token, permitBurner: helper } = deployed
  const read = { address: token, abi: tokenAbi } as const
  const relayerAccount = privateKeyToAccount(relayer.privateKey)
  const wallet = createWalletClient({ account: relayerAccount, transport: http(rpcUrl) })
  const mined = (hash: Hex) => minedReceipt(client, hash)
  return {
    chain,
    rpcUrl,
    network: 'eip155:31337' as const,
    token,
    helper,
    client,
    payer: privateKeyToAccount(payer.privateKey),
    relayer: relayerAccount,
    /** Sends transactions of somebody who is not the payer. */
    wallet,
    mined,
    pauper: privateKeyToAccount(spareAccounts[0]?.privateKey ?? '0x'),
    balanceOf: (owner: Address) => client.readContract({ ...read, functionName: 'balanceOf', args: [owner] }),
    permitNonce: (owner: Address) => client.readContract({ ...read, functionName: 'nonces', args: [owner] }),
    /** Lets a spender take tokens of the payer. */
    approve: async (spender: Address, amount: bigint) => {
      const asPayer = createWalletClient({
        account: privateKeyToAccount(payer.privateKey),
        transport: http(rpcUrl),
      })
      const call = {
        address: token,
        abi: tokenAbi,
        functionName: 'approve',
        args: [spender, amount],
      } as const
      return mined(await asPayer.writeContract({ chain: null, ...call }))
    },
    /** Puts this very code at a fresh address, as any deployer can. */
    async deployRuntime(code: Hex): Promise<Address> {
      // PUSH2 length, DUP1, PUSH1 10 (where the code begins), PUSH0, CODECOPY, PUSH0, RETURN
      const data = concatHex(['0x61', numberToHex(size(code), { size: 2 }), '0x80600a5f395ff3', code])
      const { contractAddress } = await mined(await wallet.sendTransaction({ chain: null, data }))
      if (!contractAddress) throw new Error('nothing was deployed')
      return contractAddress
    },
    /** Transactions the account has sent, waiting ones included. */
    sentBy: (address: Address) => client.getTransactionCount({ address, blockTag: 'pending' }),
    close: () => chain.close(),
  }
}

export type TestNetwork = Awaited<ReturnType<typeof startNetwork>>

/** What callers over HTTP asked of the chain while `task` ran. */
export async function callsDuring(chain: Chain, task: () => Promise<unknown>) {
  const before = chain.stats()
  await task()
  const after = chain.stats()
  const counts = Object.entries(after.calls).map(
    ([method, n]) => [method, n - (before.calls[method] ?? 0)] as const,
  )
  return {
    httpRequests: after.httpRequests - before.httpRequests,
    calls: Object.fromEntries(counts.filter(([, n]) => n > 0)),
  }
}
