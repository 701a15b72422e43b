import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { describe, expect, it } from 'vitest'
import { jumpingClock } from '../../../../test/support/clocks.js'
import { approvalRequest } from '../../test/approval-request.js'
import { type Approver, askHuman, firstOf } from './approval.js'
import { answerQuestion, createFolderApprover, listQuestions } from './approval-folder.js'
import { createPageApprover } from './approval-page.js'
import { createTerminalApprover } from './approval-terminal.js'

const never: Approver = () => new Promise(() => undefined)
const fails: Approver = () => Promise.reject(new Error('no'))
const says =
  (answer: boolean): Approver =>
  async () =>
    answer

describe('asking in several places', () => {
  it.each<[string, Approver[], string]>([
    ['the first yes', [never, says(true)], 'approved'],
    ['the first no', [never, says(false)], 'denied'],
    ['the others when one fails', [fails, says(true)], 'approved'],
    ['failure when all fail', [fails, fails], 'failed'],
    ['R-100 silence when nobody answers', [never, never], 'silent'],
  ])('takes %s', async (_, approvers, answer) => {
    expect(await askHuman(firstOf(...approvers), approvalRequest(), 50, systemClock)).toBe(answer)
  })

  it('takes a yes after the time-out for silence, though no timer has ended the question', async () => {
    const clock = jumpingClock()
    const request = approvalRequest({ until: clock.now() + 120_000 })
    const late: Approver = async () => {
      clock.advance(120_000) // the machine slept
      return true
    }
    const waiting = { now: clock.now, sleep: () => new Promise<void>(() => undefined) }
    expect(await askHuman(late, request, 120_000, waiting)).toBe('silent')
  })

  it('ends the question everywhere once it is answered', async () => {
    let ended = false
    const other: Approver = (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          ended = true
          resolve(false)
        })
      })
    await askHuman(firstOf(other, says(true)), approvalRequest(), 1_000, systemClock)
    expect(ended).toBe(true)
  })
})

describe('a terminal', () => {
  const typed = async (answer: string) => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const asked = createTerminalApprover({ input, output })(approvalRequest(), AbortSignal.timeout(5_000))
    input.write(`${answer}\n`)
    return { isApproved: await asked, shown: String(output.read()) }
  }

  it('shows everything that matters and takes the word yes', async () => {
    const { isApproved, shown } = await typed('yes')
    expect(isApproved).toBe(true)
    for (const fact of [
      'shop.example',
      '/report',
      '1.5 ZED (1500000 base units)',
      '7 base units',
      '2500000',
    ]) {
      expect(shown).toContain(fact)
    }
  })

  it.each(['', 'y', 'YES', 'yes please', 'no'])('takes %j for a no', async (answer) =>
    expect((await typed(answer)).isApproved).toBe(false),
  )
})

describe('a page on this machine', () => {
  async function open() {
    let url = ''
    const over = new AbortController()
    const answer = createPageApprover({
      show: (shown) => {
        url = shown
      },
    })(approvalRequest({ url: 'https://shop.example/<script>alert(1)</script>' }), over.signal)
    while (url === '') await systemClock.sleep(1)
    return { url, answer, over }
  }
  const post = (url: string, body: string, origin: string) =>
    fetch(url, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/x-www-form-urlencoded' },
      body,
    })

  it('shows the question without running anything in it, and takes one answer', async () => {
    const { url, answer } = await open()
    const page = await fetch(url)
    expect(await page.text()).not.toContain('<script>')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect((await post(url, 'answer=yes', new URL(url).origin)).status).toBe(200)
    expect(await answer).toBe(true)
    await expect(fetch(url)).rejects.toThrow()
  })

  it.each(['answer=no', '', 'answer=yes&answer=no'])('takes %j for a no', async (body) => {
    const { url, answer } = await open()
    await post(url, body, new URL(url).origin)
    expect(await answer).toBe(false)
  })

  it('turns away who does not know its address, comes by another name, or posts from another page', async () => {
    const { url, answer, over } = await open()
    const { origin, port } = new URL(url)
    expect((await post(`${origin}/${'0'.repeat(64)}`, 'answer=yes', origin)).status).toBe(404)
    expect((await post(url, 'answer=yes', 'http://evil.example')).status).toBe(403)
    expect((await fetch(url, { method: 'POST', body: 'answer=yes' })).status).toBe(403)
    const rebound = await new Promise<number | undefined>((resolve) => {
      const headers = { host: `evil.example:${port}`, origin }
      httpRequest(url, { method: 'POST', headers }, (response) => resolve(response.statusCode)).end(
        'answer=yes',
      )
    })
    expect(rebound).toBe(404)
    over.abort()
    expect(await answer).toBe(false)
  })
})

describe('a question in the state folder', () => {
  async function ask(answer: (folder: string) => Promise<unknown>) {
    const folder = await mkdtemp(join(tmpdir(), 'svc-pay-ask-'))
    try {
      const approver = createFolderApprover({
        folder,
        clock: systemClock,
        onAsked: () => void answer(folder),
      })
      const isApproved = await approver(approvalRequest(), AbortSignal.timeout(1_000))
      return { isApproved, left: await readdir(folder) }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  it('is shown as it was asked, answered, and gone', async () => {
    const { isApproved, left } = await ask(async (folder) => {
      const [question] = await listQuestions(folder, systemClock)
      expect(question).toEqual(approvalRequest())
      if (question) await answerQuestion(folder, question, true, systemClock)
    })
    expect({ isApproved, left }).toEqual({ isApproved: true, left: [] })
  })

  it('is not answered when the process that asked is gone, and no answer waits for another one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-pay-ask-'))
    const question = `${approvalRequest().challengeNonce}.question`
    await writeFile(join(folder, question), JSON.stringify(approvalRequest()))
    expect(await answerQuestion(folder, approvalRequest(), true, jumpingClock())).toBe(false)
    expect(await readdir(folder)).toEqual([question])
    await rm(folder, { recursive: true })
  })

  it('is not approved by an answer that an earlier question left behind', async () => {
    const earlier = approvalRequest({ until: 1_999_999_999_999 })
    const { isApproved } = await ask((folder) => answerQuestion(folder, earlier, true, systemClock))
    expect(isApproved).toBe(false)
    expect(await answerQuestion('nowhere', approvalRequest({ until: 1 }), true, systemClock)).toBe(false)
  })

  it('is not approved by an answer to other terms, by rubbish, or by silence', async () => {
    const answers = [
      (folder: string) => answerQuestion(folder, approvalRequest({ terms: '0x' }), true, systemClock),
      (folder: string) => answerQuestion(folder, approvalRequest(), false, systemClock),
      (folder: string) => writeFile(join(folder, `${approvalRequest().challengeNonce}.answer`), 'yes'),
      async () => undefined,
    ]
    for (const answer of answers) expect((await ask(answer)).isApproved).toBe(false)
  })
})
