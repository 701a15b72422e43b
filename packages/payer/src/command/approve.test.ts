import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { expect, it } from 'vitest'
import { approvalRequest } from '../../test/approval-request.js'
import { approve } from './approve.js'

it('approve says that a yes came too late for a process that is gone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-pay-approve-'))
  try {
    const question = approvalRequest()
    await writeFile(join(folder, `${question.challengeNonce}.question`), JSON.stringify(question))
    const [stdout, stderr, terminal] = [new PassThrough(), new PassThrough(), new PassThrough()]
    terminal.write('yes\n')
    const io = { stdout, stderr, terminal, isColoured: false } as unknown as Parameters<typeof approve>[2]
    const { result, text } = await approve(folder, { id: undefined, list: false }, io, systemClock)
    expect(`${stderr.read()}`).toContain('too late: nobody waits for this answer any more')
    expect(text).not.toContain('approved')
    expect(result).toEqual({ answered: [{ challengeNonce: question.challengeNonce, isApproved: false }] })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
