/** Reads the verifier contract: the newest proved root, and what was minted for a payment. */
import { verifierAbi } from '@svc-zerc20/contracts'
import {
  type ChainLog,
  type JsonRpc,
  type RpcAnswer,
  type RpcCall,
  readHead,
  resultOf,
  scanLogs,
  wellFormed,
} from '@svc-zerc20/evm'
import { type Address, type BaseUnits, parseTxHash, SvcError } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { decodeFunctionResult, encodeEventTopics, encodeFunctionData, parseEventLogs } from 'viem/utils'
import type { Mintable, MintState, MintVerifier, ProvedRoot } from '../payment/finalize/ports.js'
import type { AwaitingMint, Mint } from '../payment/records.js'

type Question =
  | { readonly functionName: 'latestProvedIndex' | 'paused' }
  | { readonly functionName: 'provedTransferRoots' | 'totalTeleported'; readonly args: readonly [bigint] }

export function createVerifier(deps: {
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly verifier: Address
  readonly secretsOf: (challenge: Mintable['challenge']) => {
    readonly recipientHash: bigint
    readonly recipient: { readonly tweak: Hex }
  }
  /** Blocks, its own included, after which a mint counts. */
  readonly confirmations: number
  /** Payments asked for in one batch. */
  readonly statesPerBatch: number
  /** Blocks in one question for logs; fewer while the node refuses. */
  readonly logSpanBlocksMax: number
}): MintVerifier {
  const { rpc, secretsOf } = deps

  const ask = (question: Question, block: string): RpcCall => ({
    method: 'eth_call',
    params: [
      { to: deps.verifier, data: encodeFunctionData({ abi: verifierAbi, ...question } as never) },
      block,
    ],
  })

  function read(functionName: Question['functionName'], answer: RpcAnswer | undefined): bigint | boolean {
    const data = resultOf('eth_call', answer) as Hex
    return wellFormed(
      'eth_call',
      () => decodeFunctionResult({ abi: verifierAbi, functionName, data } as never) as bigint | boolean,
    )
  }
  const number = (functionName: Question['functionName'], answer: RpcAnswer | undefined) =>
    BigInt(read(functionName, answer))

  /** At that block there may have been no verifier yet. */
  const deepTotal = (answer: RpcAnswer | undefined) =>
    resultOf('eth_call', answer) === '0x' ? 0n : number('totalTeleported', answer)

  async function someStates(payments: readonly Mintable[]): Promise<readonly MintState[]> {
    const deep = (await readHead(rpc)) - BigInt(deps.confirmations - 1)
    const deepBlock = `0x${(deep < 0n ? 0n : deep).toString(16)}`
    const questions = payments.map(({ challenge }) => ({
      functionName: 'totalTeleported' as const,
      args: [secretsOf(challenge).recipientHash] as const,
    }))
    const answers = await rpc.batch([
      ...questions.map((question) => ask(question, 'latest')),
      ...questions.map((question) => ask(question, deepBlock)),
    ])
    return payments.map(({ burn }, i) => {
      if (deepTotal(answers[payments.length + i]) >= burn.value) return 'minted'
      return number('totalTeleported', answers[i]) >= burn.value ? 'shallow' : 'due'
    })
  }

  return {
    async latestRoot(): Promise<ProvedRoot> {
      const [indexAnswer, pausedAnswer] = await rpc.batch([
        ask({ functionName: 'latestProvedIndex' }, 'latest'),
        ask({ functionName: 'paused' }, 'latest'),
      ])
      const size = number('latestProvedIndex', indexAnswer)
      const [rootAnswer] = await rpc.batch([
        ask({ functionName: 'provedTransferRoots', args: [size] }, 'latest'),
      ])
      const root = number('provedTransferRoots', rootAnswer)
      // A reorg between the two questions, or a node that lags behind another.
      if (root === 0n) throw new SvcError('rpc_error', `the verifier shows no root at index ${size}`)
      return { size, root, isPaused: read('paused', pausedAnswer) === true }
    },

    async mintStates(payments) {
      const states: MintState[] = []
      for (let from = 0; from < payments.length; from += deps.statesPerBatch) {
        states.push(...(await someStates(payments.slice(from, from + deps.statesPerBatch))))
      }
      return states
    },

    async findMint({ challenge, burn }: AwaitingMint): Promise<Mint | undefined> {
      const { tweak } = secretsOf(challenge).recipient
      const topics = encodeEventTopics({
        abi: verifierAbi,
        eventName: 'Teleport',
        args: { to: challenge.treasury },
      }) as string[]
      const blocks = { fromBlock: Number(burn.blockNumber), spanBlocksMax: deps.logSpanBlocksMax }
      for await (const { logs } of scanLogs(rpc, { address: deps.verifier, topics }, blocks)) {
        const mint = mintIn(logs, tweak)
        if (mint) return mint
      }
      return undefined
    },
  }
}

function mintIn(logs: readonly ChainLog[], tweak: Hex): Mint | undefined {
  const teleports = wellFormed('eth_getLogs', () =>
    parseEventLogs({ abi: verifierAbi, eventName: 'Teleport', logs: logs as never }),
  )
  const found = teleports.find(({ args }) => args.gr.tweak === tweak)
  const txHash = parseTxHash(found?.transactionHash)
  if (!found || txHash === undefined) return undefined
  return { txHash, blockNumber: BigInt(found.blockNumber ?? 0), value: found.args.value as BaseUnits }
}
