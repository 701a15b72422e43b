/** A fake node that answers from a table, for tests that script the chain. */
import type { JsonRpc, RpcAnswer } from '@svc-zerc20/evm'

type Answer = (...params: never[]) => unknown

/** Answers for a chain that reaches up to this block. */
export const blocksUpTo = (headNow: () => number): Record<'eth_getBlockByNumber', Answer> => ({
  eth_getBlockByNumber(block: string) {
    const head = headNow()
    const number = block === 'latest' ? head : Number(block)
    return number > head ? null : { number: `0x${number.toString(16)}`, hash: `0x${'ab'.repeat(32)}` }
  },
})

/** A thrown error becomes the node's error. The round trip itself never fails. */
export function scriptedRpc(answers: Record<string, Answer>): Pick<JsonRpc, 'batch'> & { asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    batch: async (calls) =>
      calls.map(({ method, params }): RpcAnswer => {
        asked.push(method)
        try {
          const answer = answers[method]
          if (!answer) throw new Error(`the method ${method} is unknown`)
          return { result: answer(...(params as never[])) }
        } catch (error) {
          return { error: { code: -32000, message: (error as Error).message } }
        }
      }),
  }
}
