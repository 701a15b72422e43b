import { expect, it } from 'vitest'
import { nonceOf } from '../../../test/challenges.js'
import { temporaryFiles } from '../../../test/files.js'
import { loggedNonces } from './logged-nonces.js'

const files = temporaryFiles()

it('the nonces of a log are found once each, in JSON and in other lines, and other hashes are none', async () => {
  const [first, second, third] = [nonceOf(1), nonceOf(2), nonceOf(3)]
  const hash = `0x${'ab'.repeat(32)}`
  const file = files.write(
    'daemon.log',
    [
      JSON.stringify({ event: 'challenge.issued', challengeNonce: first, amount: '1' }),
      JSON.stringify({ event: 'payment.accepted', challengeNonce: first, txHash: hash }),
      `2026-01-01 sold nonce=${second} tx=${hash}`,
      `{"offer":{"extra":{"challengeNonce": "${third}"}}}`,
      '{"nonce":"0x12"} and no more',
    ].join('\n'),
  )
  expect(await loggedNonces(file)).toEqual([first, second, third])
  await expect(loggedNonces(`${file}.missing`)).rejects.toThrow('ENOENT')
})
