import { tokenAbi } from '@svc-zerc20/contracts'
import type { JsonRpc } from '@svc-zerc20/evm'
import { encodeFunctionResult } from 'viem/utils'
import { expect, it } from 'vitest'
import { addressOf } from '../../test/challenges.js'
import { readTokenLabel } from './lens.js'

/** A node whose token has this many decimals; it is asked for the symbol first. */
function nodeOf(decimals: number) {
  const answers = [
    encodeFunctionResult({ abi: tokenAbi, functionName: 'symbol', result: 'zUSD' }),
    encodeFunctionResult({ abi: tokenAbi, functionName: 'decimals', result: decimals }),
  ]
  return { call: async () => answers.shift() } as unknown as JsonRpc
}

it('a token with more decimals than any amount has digits is taken for one that tells none', async () => {
  expect(await readTokenLabel(nodeOf(77), addressOf(1))).toEqual({ symbol: 'zUSD', decimals: 77 })
  expect(await readTokenLabel(nodeOf(78), addressOf(1))).toBeUndefined()
})
