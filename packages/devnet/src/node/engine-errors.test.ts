import { expect, test } from 'vitest'
import { fromEngineError } from './engine-errors.js'

test.each([
  ['Known transaction: 0x12', 'already known'],
  [
    'Replacement transaction underpriced. A gasPrice/maxFeePerGas of at least 11 is necessary.',
    'replacement transaction underpriced',
  ],
  [
    'Transaction nonce too low. Expected nonce to be at least 7 but got 3.',
    'nonce too low: next nonce 7, tx nonce 3',
  ],
  [
    "Sender doesn't have enough funds to send tx. The max upfront cost is: 9 and the sender's balance is: 4.",
    'insufficient funds for gas * price + value: balance 4, tx cost 9',
  ],
  ['Transaction gas limit is 70 and exceeds block gas limit of 60', 'exceeds block gas limit'],
  ['Transaction requires at least 21000 gas but got 20000', 'intrinsic gas too low: have 20000, want 21000'],
])('%s becomes what geth says', (message, wording) => {
  expect(fromEngineError({ code: -32_000, message, data: null })).toMatchObject({
    code: -32_000,
    message: wording,
  })
})

test('a revert carries code 3, its reason and the returned bytes', () => {
  const message = "VM Exception while processing transaction: reverted with reason string 'not today'"
  expect(fromEngineError({ code: -32_000, message, data: { data: '0x08c379a0' } })).toMatchObject({
    code: 3,
    message: 'execution reverted: not today',
    data: '0x08c379a0',
  })
})

test('an unknown method is an unknown method', () => {
  expect(fromEngineError({ code: -32_004, message: 'Method foo_bar is not supported' })).toMatchObject({
    code: -32_601,
    message: 'the method foo_bar does not exist or is not available',
  })
})

test('any other error stays as it is', () => {
  expect(fromEngineError({ code: -32_602, message: 'odd' })).toMatchObject({ code: -32_602, message: 'odd' })
})
