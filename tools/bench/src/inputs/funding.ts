/** Tokens for every payer, and the reference's own token. */
import { tokenAbi } from '@svc-zerc20/contracts'
import { developmentRoles } from '@svc-zerc20/devnet'
import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { compile, contractNamed } from '../../../../contracts/compiler.mjs'
import type { ChainView } from './chain-view.js'

export const referenceToken = { name: 'Reference USD', version: '2' } as const

const unitsEach = 1_000_000_000n
const gas = { deploy: 3_000_000n, mint: 150_000n } as const
const source = '../tools/bench/contracts/Eip3009Token.sol'

/** Deploys the reference's token and mints both tokens to all payers; resolves when it is mined. */
export async function fundPayers(options: {
  chain: ChainView
  token: Address
  payers: readonly Address[]
}): Promise<{ referenceToken: Address }> {
  const { chain, token, payers } = options
  const { abi, evm } = contractNamed(compile([source]), 'Eip3009Token')
  const account = privateKeyToAccount(developmentRoles.deployer.privateKey)
  const chainId = await chain.read.getChainId()
  const fees = await chain.read.estimateFeesPerGas()
  let nonce = await chain.read.getTransactionCount({ address: account.address, blockTag: 'pending' })
  const deployed = getContractAddress({ from: account.address, nonce: BigInt(nonce) })

  async function send(call: { to?: Address; data: Hex; gas: bigint }): Promise<Hex> {
    const request = { type: 'eip1559', chainId, nonce, ...fees, ...call } as const
    nonce += 1
    // Not by viem's action, which never asks twice: of thousands of calls one meets a connection that the node just closed.
    const params: [Hex] = [await account.signTransaction(request)]
    return chain.read.request({ method: 'eth_sendRawTransaction', params })
  }

  const { name, version } = referenceToken
  const bytecode: Hex = `0x${evm.bytecode.object}`
  const hashes = [
    await send({ data: encodeDeployData({ abi, bytecode, args: [name, version] }), gas: gas.deploy }),
  ]
  for (const payer of payers) {
    hashes.push(await send({ to: token, data: mintData(tokenAbi, payer), gas: gas.mint }))
    hashes.push(await send({ to: deployed, data: mintData(abi, payer), gas: gas.mint }))
  }
  await chain.drain(account.address)
  const receipts = await Promise.all(hashes.map((hash) => chain.read.getTransactionReceipt({ hash })))
  if (receipts.some(({ status }) => status !== 'success')) throw new Error('funding the payers failed')
  return { referenceToken: deployed }
}

function mintData(abi: Abi, to: Address): Hex {
  return encodeFunctionData({ abi, functionName: 'mint', args: [to, unitsEach] })
}
