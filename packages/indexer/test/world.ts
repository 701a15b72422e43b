/** A real chain with the real token, and hands to move tokens on it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tokenAbi } from '@svc-zerc20/contracts'
import {
  type Chain,
  type Deployment,
  deployContracts,
  developmentRoles,
  startChain,
} from '@svc-zerc20/devnet'
import { type Address, encodeFunctionData, parseGwei } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const payer = privateKeyToAccount(developmentRoles.payer.privateKey)

export type World = {
  readonly chain: Chain
  readonly deployment: Deployment
  /** A fresh folder, removed at the end. */
  readonly folder: string
  /** Sends transfers by the payer; they wait for `chain.mine()` or the next reorg. */
  send(...transfers: readonly { to: Address; value: bigint }[]): Promise<void>
  /** Sends them and mines one block. */
  mine(...transfers: readonly { to: Address; value: bigint }[]): Promise<void>
  leaves(): Promise<number>
  close(): Promise<void>
}

type Proofs = Parameters<typeof deployContracts>[0]['proofs']

/** Blocks come when the test says so. */
export async function startWorld(options: { proofs?: Proofs; genesisTime?: number } = {}): Promise<World> {
  const { proofs, genesisTime } = options
  const chain = await startChain({
    mining: { mode: 'instant' },
    ...(genesisTime !== undefined && { genesisTime }),
  })
  const folder = mkdtempSync(join(tmpdir(), 'svc-indexer-'))
  const deployment = await deployContracts({
    rpcUrl: chain.rpcUrl,
    deployer: developmentRoles.deployer,
    payer: payer.address,
    ...(proofs && { proofs }),
  })
  await chain.pauseMining()
  const { token } = deployment

  async function send(...transfers: readonly { to: Address; value: bigint }[]): Promise<void> {
    const count = await chain.request('eth_getTransactionCount', [payer.address, 'pending'])
    let nonce = Number(count)
    for (const { to, value } of transfers) {
      const raw = await payer.signTransaction({
        type: 'eip1559',
        chainId: chain.chainId,
        nonce: nonce++,
        to: token,
        data: encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [to, value] }),
        gas: 120_000n,
        maxFeePerGas: parseGwei('10'),
        maxPriorityFeePerGas: parseGwei('1'),
      })
      await chain.request('eth_sendRawTransaction', [raw])
    }
  }

  return {
    chain,
    deployment,
    folder,
    send,
    async mine(...transfers) {
      await send(...transfers)
      await chain.mine()
    },
    async leaves() {
      const data = encodeFunctionData({ abi: tokenAbi, functionName: 'index' })
      return Number(await chain.request('eth_call', [{ to: token, data }, 'latest']))
    },
    async close() {
      await chain.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Distinct addresses that nobody has a key of. */
export const recipient = (number: number): Address => `0x${(0xb000 + number).toString(16).padStart(40, '0')}`

/** `count` transfers of different values to different recipients. */
export const transfers = (count: number, first = 0): { to: Address; value: bigint }[] =>
  Array.from({ length: count }, (_, at) => ({ to: recipient(first + at), value: BigInt(first + at + 1) }))

/** JSON or text of an answer, with its status. */
export async function get(url: string): Promise<{ status: number; type: string | null; body: unknown }> {
  return read(await fetch(url))
}

/** Sends a JSON body, and gives the answer as `get` does. */
export async function post(
  url: string,
  body: unknown,
): Promise<{ status: number; type: string | null; body: unknown }> {
  const headers = { 'content-type': 'application/json' }
  return read(
    await fetch(url, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  )
}

async function read(response: Response): Promise<{ status: number; type: string | null; body: unknown }> {
  const text = await response.text()
  const type = response.headers.get('content-type')
  return { status: response.status, type, body: type?.includes('json') ? JSON.parse(text) : text }
}
