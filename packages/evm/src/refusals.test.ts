import { describe, expect, it } from 'vitest'
import { judgeRefusal, type Refusal, type RefusalCause, refusalCause } from './refusals.js'

/** Messages of geth, Nethermind, Besu, Erigon and the embedded node. */
const said: Record<Refusal, readonly string[]> = {
  known: [
    'already known',
    'AlreadyKnown',
    'Known transaction',
    'existing tx with same hash',
    'nonce too low: next nonce 5, tx nonce 4',
    'Nonce too low. Expected nonce to be 3 but got 2.',
    'OldNonce, Current nonce: 5, nonce of rejected tx: 4',
  ],
  unfunded: [
    'insufficient funds for gas * price + value: balance 0, tx cost 1',
    "Sender doesn't have enough funds to send tx. The max upfront cost is: 1 and the sender's balance is: 0.",
    'InsufficientFunds, Balance is zero, cannot pay gas',
    'Upfront cost exceeds account balance',
  ],
  passing: [
    'replacement transaction underpriced',
    'transaction underpriced: gas tip cap 0, minimum needed 1',
    'FeeTooLowToCompete',
    'ReplacementNotAllowed',
    'Gas price below configured minimum gas price',
    'max fee per gas less than block base fee: address 0x, maxFeePerGas: 1, baseFee: 7',
    'Transaction maxFeePerGas (1) is too low for the next block, which has a baseFeePerGas of 7',
    'nonce too high',
    'Nonce too distant from current sender nonce',
    'NonceGap, Future nonce. Expected nonce: 4',
    'future transaction tries to replace pending',
    'gapped-nonce tx from delegated accounts',
    'in-flight transaction limit reached for delegated accounts',
    'txpool is full',
    'rate limit exceeded',
    'Too Many Requests',
    'request timed out',
    'internal error',
  ],
  lasting: [
    'exceeds block gas limit',
    'Transaction gas limit is 15060000 and exceeds block gas limit of 8000000',
    'transaction gas limit too high (cap: 16777216, tx: 20000000)',
    'tx fee (1.51 ether) exceeds the configured cap (1.00 ether)',
    'intrinsic gas too low: gas 100, minimum needed 21000',
    'max priority fee per gas higher than max fee per gas',
    'oversized data: transaction size 200000, limit 131072',
    'invalid sender',
    'transaction type not supported',
    '',
  ],
}

describe('judgeRefusal', () => {
  it.each(Object.entries(said).flatMap(([refusal, words]) => words.map((message) => [message, refusal])))(
    'takes %j as %s',
    (message, refusal) => {
      expect(judgeRefusal(message)).toBe(refusal)
    },
  )
})

describe('refusalCause', () => {
  const causes: readonly (readonly [string, RefusalCause])[] = [
    ['already known', 'held'],
    ['transaction already in mempool', 'held'],
    ['nonce too low: next nonce 5, tx nonce 4', 'nonce_used'],
    ['the nonce was already used', 'nonce_used'],
    ['insufficient balance for transfer', 'unfunded'],
    ['replacement transaction underpriced', 'underpriced'],
    ['NonceGap, Future nonce. Expected nonce: 4', 'nonce_gap'],
    ['txpool is full', 'node_busy'],
    ['exceeds block gas limit', 'invalid'],
  ]
  it.each(causes)('hears in %j that it is %s', (message, cause) => {
    expect(refusalCause(message)).toBe(cause)
  })
})
