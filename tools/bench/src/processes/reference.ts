/**
 * The official facilitator: its packages behind express, tuned by the options of its manual: ordered txNonces and frequent
 * polling of receipts.
 */
import { x402Facilitator } from '@x402/core/facilitator'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import express from 'express'
import { createWalletClient, defineChain, type Hex, http, nonceManager, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { announceReady } from './child.js'

export type ReferenceReady = { readonly url: string }

const pollingInterval = 100

const { RPC_URL: rpcUrl = '', PRIVATE_KEY: privateKey = '', CHAIN_ID: chainId } = process.env

const chain = defineChain({
  id: Number(chainId),
  name: 'bench',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [rpcUrl] } },
})
const account = privateKeyToAccount(privateKey as Hex, { nonceManager })
const client = createWalletClient({ account, chain, transport: http(rpcUrl), pollingInterval }).extend(
  publicActions,
)

const signer = toFacilitatorEvmSigner({
  address: account.address,
  getCode: (args) => client.getCode(args),
  readContract: (args) => client.readContract({ ...args, args: args.args ?? [] }),
  verifyTypedData: (args) => client.verifyTypedData(args as Parameters<typeof client.verifyTypedData>[0]),
  writeContract: (args) => client.writeContract(args),
  sendTransaction: (args) => client.sendTransaction(args),
  waitForTransactionReceipt: (args) => client.waitForTransactionReceipt(args),
})
const facilitator = new x402Facilitator().register(`eip155:${chain.id}`, new ExactEvmScheme(signer))

type Body = { paymentPayload: PaymentPayload; paymentRequirements: PaymentRequirements }

const app = express()
app.use(express.json())
app.get('/supported', (_request, response) => {
  response.json(facilitator.getSupported())
})
for (const step of ['verify', 'settle'] as const) {
  app.post(`/${step}`, async (request, response) => {
    const { paymentPayload, paymentRequirements } = request.body as Body
    try {
      response.json(await facilitator[step](paymentPayload, paymentRequirements))
    } catch (error) {
      response.status(500).json({ error: (error as Error).message })
    }
  })
}
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  announceReady({ url: `http://127.0.0.1:${port}` } satisfies ReferenceReady)
})
