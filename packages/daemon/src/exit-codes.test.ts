import { SvcError } from '@svc-zerc20/protocol'
import { expect, it } from 'vitest'
import { exitCodeFor, exitCodes } from './exit-codes.js'

const mistake = new SvcError('bad_option', 'no such port')
const trouble = new SvcError('rpc_unreachable', 'nobody answers')

it.each([
  ['a mistake', mistake, exitCodes.mistake],
  ['trouble that may pass', trouble, exitCodes.tryAgain],
  ['a defect without a code', new Error('oops'), exitCodes.tryAgain],
  ['something that is no error', undefined, exitCodes.tryAgain],
  ['a mistake behind something else', new Error('not opened', { cause: mistake }), exitCodes.mistake],
  [
    'several failures, a mistake among them',
    new SvcError('close_failed', 'not closed', { cause: new AggregateError([trouble, mistake]) }),
    exitCodes.mistake,
  ],
])('%s decides the exit code', (_what, error, code) => {
  expect(exitCodeFor(error)).toBe(code)
})
