/** A network of its own for one test file: chain, contracts, the real facilitator and a proxy before it. */
import { tokenAbi } from '@svc-zerc20/contracts'
import {
  developmentRoles,
  type LocalNetworkOptions,
  spareAccounts,
  startLocalNetwork,
} from '@svc-zerc20/devnet'
import { type Address, type Hex, http, isAddressEqual, parseEventLogs } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createTokenClient } from '../../support/token-client.js'
import { untilAddresses } from '../../support/until-addresses.js'
import { startFacilitatorProxy } from './facilitator-proxy.js'

export const network = 'eip155:31337'

export type Interop = Awaited<ReturnType<typeof startInterop>>

export async function startInterop(options: LocalNetworkOptions = {}) {
  const local = await startLocalNetwork({ inProcess: {}, powBits: 1, ...options })
  const { chain, rpcUrl, deployment, faucet } = local
  if (chain === undefined) throw new Error('the network has no chain of its own')
  await untilAddresses(local)
  const proxy = await startFacilitatorProxy(local.facilitatorUrl)
  const tokenClient = createTokenClient(local, http(rpcUrl))
  const { client } = tokenClient
  const { token, permitBurner: helper } = deployment

  return {
    chain,
    rpcUrl,
    token,
    helper,
    proxy,
    ...tokenClient,
    faucet,
    events: local.events,
    facilitatorUrl: local.facilitatorUrl,
    /** The shop of `shopScript`, if one was asked for. */
    shopUrl: local.shopUrl,
    payer: privateKeyToAccount(developmentRoles.payer.privateKey),
    /** A funded account of its own, by number. */
    async anotherPayer(number: number, tokenUnits = 1_000_000n) {
      const key = spareAccounts[number]?.privateKey
      if (key === undefined) throw new Error(`there is no spare account ${number}`)
      const account = privateKeyToAccount(key)
      await faucet.mintTokens(account.address, tokenUnits)
      return account
    },
    /** Every transfer to this one-time address: what was burned for its offer. */
    async burnsTo(payTo: string) {
      const logs = await client.getLogs({ address: token, fromBlock: deployment.fromBlock })
      return parseEventLogs({ abi: tokenAbi, eventName: 'IndexedTransfer', logs })
        .filter(({ args }) => isAddressEqual(args.to, payTo as Address))
        .map(({ args, transactionHash }) => ({ value: args.value, transactionHash }))
    },
    sentBy: (address: Address) => client.getTransactionCount({ address, blockTag: 'pending' }),
    /** Whether the node holds this account's transactions without having mined them. */
    async hasPending(address: Address) {
      const count = (tag: string) => chain.request('eth_getTransactionCount', [address, tag]) as Promise<Hex>
      const [mined, all] = await Promise.all([count('latest'), count('pending')])
      return BigInt(all) > BigInt(mined)
    },
    async close() {
      await proxy.close()
      await local.close()
    },
  }
}
