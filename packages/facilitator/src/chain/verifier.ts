/** Reads the verifier contract: the newest proved root, and what was minted for a payment. */
import { verifierAbi } from '@svc-zerc20/contracts'
import { type JsonRpc, type RpcAnswer, type RpcCall, readHead, resultOf, wellFormed } from '@svc-zerc20/evm'
import { type Address, type BaseUnits, parseTxHash, SvcError } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils'
import { limits } from '../config/limits.js'
import type { Mintable, MintState, MintVerifier, ProvedRoot } from '../payment/finalize/ports.js'
import type { AwaitingMint, Mint } from '../payment/records.js'
import { readEvents } from './past-events.js'

type View = 'latestProvedIndex' | 'paused' | 'provedTransferRoots' | 'totalTeleported' | 'batchCount'

/** A question to the verifier, at a block. */
export const askView = (to: Address, block: string, functionName: View, ...args: unknown[]): RpcCall => ({
  method: 'eth_call',
  params: [{ to, data: encodeFunctionData({ abi: verifierAbi, functionName, args } as never) }, block],
})

/** Undefined when there was no verifier at that block. */
export function readView<T>(functionName: View, answer: RpcAnswer | undefined): T | undefined {
  const data = resultOf('eth_call', answer) as Hex
  if (data === '0x') return undefined
  return wellFormed(
    'eth_call',
    () => decodeFunctionResult({ abi: verifierAbi, functionName, data } as never) as T,
  )
}

/** The newest block that is as deep as a mint must be. */
export async function readDeepBlock(rpc: Pick<JsonRpc, 'batch'>, confirmations: number): Promise<string> {
  const deep = (await readHead(rpc)) - BigInt(confirmations - 1)
  return `0x${(deep < 0n ? 0n : deep).toString(16)}`
}

export function createVerifier(deps: {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly verifier: Address
  readonly secretsOf: (challenge: Mintable['challenge']) => {
    readonly recipientHash: bigint
    readonly recipient: { readonly tweak: Hex }
  }
  /** Blocks, its own included, after which a mint counts. */
  readonly confirmations: number
}): MintVerifier {
  const { rpc, verifier, secretsOf } = deps

  async function someStates(payments: readonly Mintable[]): Promise<readonly MintState[]> {
    const deepBlock = await readDeepBlock(rpc, deps.confirmations)
    const hashes = payments.map(({ challenge }) => secretsOf(challenge).recipientHash)
    const ask = (block: string) => hashes.map((hash) => askView(verifier, block, 'totalTeleported', hash))
    const answers = await rpc.batch([...ask('latest'), ...ask(deepBlock)])
    const totals = answers.map((answer) => readView<bigint>('totalTeleported', answer) ?? 0n)
    return payments.map(({ burn }, i) => {
      if ((totals[payments.length + i] ?? 0n) >= burn.value) return 'minted'
      return (totals[i] ?? 0n) >= burn.value ? 'shallow' : 'due'
    })
  }

  return {
    async latestRoot(): Promise<ProvedRoot> {
      const [indexAnswer, pausedAnswer] = await rpc.batch([
        askView(verifier, 'latest', 'latestProvedIndex'),
        askView(verifier, 'latest', 'paused'),
      ])
      const size = BigInt(readView<bigint | number>('latestProvedIndex', indexAnswer) ?? 0n)
      const [rootAnswer] = await rpc.batch([askView(verifier, 'latest', 'provedTransferRoots', size)])
      const root = readView<bigint>('provedTransferRoots', rootAnswer) ?? 0n
      // A reorg between the two questions, or a node that lags behind another.
      if (root === 0n) throw new SvcError('rpc_error', `the verifier shows no root at index ${size}`)
      return { size, root, isPaused: readView('paused', pausedAnswer) === true }
    },

    async mintStates(payments) {
      const states: MintState[] = []
      for (let from = 0; from < payments.length; from += limits.mintStatesPerBatch) {
        states.push(...(await someStates(payments.slice(from, from + limits.mintStatesPerBatch))))
      }
      return states
    },

    async findMint({ challenge, burn }: AwaitingMint): Promise<Mint | undefined> {
      const { tweak } = secretsOf(challenge).recipient
      const teleports = await readEvents(rpc, {
        address: verifier,
        abi: verifierAbi,
        eventName: 'Teleport',
        args: { to: challenge.treasury },
        fromBlock: Number(burn.blockNumber),
      })
      const found = mintThatReached(
        teleports.filter(({ args }) => args.gr.tweak === tweak),
        burn.value,
      )
      const txHash = parseTxHash(found?.transactionHash)
      if (!found || txHash === undefined) return undefined
      return { txHash, blockNumber: BigInt(found.blockNumber ?? 0), value: found.args.value as BaseUnits }
    },
  }
}

/**
 * The mint that brought what was minted to an address to this value. Larger burns of an address are minted later, as far as
 * they exceed what was minted, and earlier mints may be in blocks before these.
 */
export function mintThatReached<T extends { readonly args: { readonly value: bigint } }>(
  mints: readonly T[],
  value: bigint,
): T | undefined {
  let minted = 0n
  for (const mint of mints) {
    minted += mint.args.value
    if (minted >= value) return mint
  }
  return mints.at(-1)
}
