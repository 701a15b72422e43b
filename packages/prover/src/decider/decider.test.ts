import { setTimeout as wait } from 'node:timers/promises'
import { Secret } from '@svc-zerc20/protocol'
import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../../../../test/support/until.js'
import type { Proof } from '../message.js'
import { createDeciderProver, type DeciderEvent, type DeciderLimits, type DeciderProver } from './client.js'
import { encodeProof, encodeWitness } from './job-text.js'
import { createJobs, type JobLimits } from './jobs.js'
import { createDeciderServer } from './server.js'

const token = 'a-token-that-nobody-guesses'
const circuit = 'batch-withdraw'
const input = { root: 5n, value: 7n, secrets: [1n, 2n] }
const good: Proof = { proof: Array.from({ length: 8 }, (_, i) => BigInt(i)), signals: [5n, 7n] }
const clock = {
  now: () => performance.now(),
  sleep: (ms: number, signal?: AbortSignal) =>
    wait(ms, undefined, signal && { signal }).catch(() => undefined),
}
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

type Prove = (input: unknown, signal: AbortSignal) => Promise<Proof>

/** A decider on its own port; `prove` stands for its proving processes. */
async function startServer(prove: Prove, { port = 0, jobLimits = {} as Partial<JobLimits> } = {}) {
  const jobs = createJobs({
    prove: (_, witness, signal) => prove(witness, signal),
    clock,
    limits: { jobsMax: 4, underWayMax: 3, keptMs: 60_000, ...jobLimits },
  })
  const app: FastifyInstance = createDeciderServer({
    jobs,
    token: new Secret(token),
    circuits: [circuit],
    onError: (route, err) => expect.fail(`${route}: ${err}`),
  })
  const url = await app.listen({ host: '127.0.0.1', port })
  const close = async () => {
    jobs.close()
    await app.close()
  }
  closers.push(close)
  return { url, close, app, port: Number(new URL(url).port) }
}

function startClient(
  url: string,
  changes: Partial<DeciderLimits> & { isValid?: boolean; token?: string } = {},
) {
  const { isValid = true, token: given = token, ...limits } = changes
  const events: DeciderEvent[] = []
  const own: string[] = []
  const ownProver: Pick<DeciderProver, 'prove'> = {
    async prove(name) {
      own.push(name)
      return good
    },
  }
  const prover = createDeciderProver({
    url: `${url}/`,
    token: new Secret(given),
    circuits: { [circuit]: ['root', 'value'] },
    own: ownProver,
    verify: () => isValid,
    clock,
    report: (event) => events.push(event),
    limits: {
      pollMs: 10,
      answerMs: 2_000,
      answerBytesMax: 4_096,
      silentMs: 300,
      patienceMs: 20_000,
      ...limits,
    },
  })
  const prove = (signal = new AbortController().signal) => prover.prove(circuit, input, { signal })
  return { prover, prove, events, own }
}

const failures = (events: readonly DeciderEvent[]) =>
  events.flatMap((event) => (event.event === 'decider.failed' ? [String((event.err as Error).message)] : []))

const post = (app: FastifyInstance, body: object, authorization = `Bearer ${token}`) =>
  app.inject({ method: 'POST', url: '/jobs', headers: { authorization }, payload: body })
const jobOf = (id: string, witness: Parameters<typeof encodeWitness>[0] = input) => ({
  job_id: id,
  circuit,
  ivc_proof: encodeWitness(witness),
})

describe('a daemon with a decider', () => {
  it('uses a proof that the decider made of the witness it was sent, and proves nothing itself', async () => {
    const witnesses: unknown[] = []
    const { url } = await startServer(async (witness) => {
      witnesses.push(witness)
      return good
    })
    const { prove, own, events } = startClient(url)
    expect(await prove()).toEqual(good)
    expect([witnesses, own]).toEqual([[input], []])
    expect(events).toMatchObject([{ event: 'decider.proved' }])
    // The same witness is the same job, as after a restart of the daemon.
    expect(await startClient(url).prove()).toEqual(good)
    expect(witnesses).toHaveLength(1)
  })

  it('proves other circuits itself, and asks nobody', async () => {
    const { prover, own } = startClient('http://127.0.0.1:9')
    await prover.prove('withdraw-local', input, { signal: new AbortController().signal })
    expect(own).toEqual(['withdraw-local'])
  })

  it.each([
    ['a proof that is not valid', {}, { isValid: false }, 'not valid'],
    ['a proof of other numbers', { signals: [5n, 8n] }, {}, 'not valid'],
    ['a proof of fewer numbers', { signals: [5n] }, {}, 'not valid'],
  ])('does not use %s, and proves itself', async (_, proof, changes, words) => {
    const { url } = await startServer(async () => ({ ...good, ...proof }))
    const { prove, own, events } = startClient(url, changes)
    expect(await prove()).toEqual(good)
    expect([own, failures(events)]).toEqual([[circuit], [expect.stringContaining(words)]])
  })

  it('proves itself at once when the decider gave up, and after its patience when the decider is slow', async () => {
    const broken = await startServer(() => Promise.reject(new Error('the circuit refuses its inputs')))
    const refused = startClient(broken.url)
    expect(await refused.prove()).toEqual(good)
    expect(failures(refused.events)).toEqual([expect.stringContaining('the circuit refuses its inputs')])
    const slow = await startServer(() => new Promise(() => undefined))
    const impatient = startClient(slow.url, { patienceMs: 50 })
    expect(await impatient.prove()).toEqual(good)
    expect(failures(impatient.events)).toEqual([expect.stringContaining('no proof of the decider within')])
  })

  it.each([
    ['is not there', 'http://127.0.0.1:9', {}],
    ['refuses the token', undefined, { token: 'another-token' }],
  ])('proves itself when the decider %s', async (_, elsewhere, changes) => {
    const { url } = await startServer(async () => good)
    const { prove, own, events } = startClient(elsewhere ?? url, { silentMs: 30, ...changes })
    expect(await prove()).toEqual(good)
    expect([own.length, failures(events).length]).toEqual([1, 1])
  })

  it('submits again to a decider that was killed in the middle and started again, which knows no job', async () => {
    let asked = 0
    const first = await startServer(() => {
      asked += 1
      return new Promise(() => undefined)
    })
    const { prove, own, events } = startClient(first.url, { silentMs: 20_000 })
    const proof = prove()
    await until(() => asked === 1)
    await first.close()
    await startServer(async () => good, { port: first.port })
    expect(await proof).toEqual(good)
    expect([own, failures(events)]).toEqual([[], []])
  })

  it('says which proof of the decider is waited for, and when the decider last answered', async () => {
    const { url, close, port } = await startServer(async () => good)
    await close()
    const { prover, prove } = startClient(url, { silentMs: 20_000 })
    expect(prover.waitsFor()).toBeUndefined()
    const proof = prove()
    expect(prover.waitsFor()).toEqual({ sinceMs: expect.any(Number) })
    const finish = new AbortController()
    const proved = new Promise<Proof>((resolve) =>
      finish.signal.addEventListener('abort', () => resolve(good)),
    )
    await startServer(() => proved, { port })
    await until(() => prover.waitsFor()?.heardMs !== undefined)
    finish.abort()
    expect(await proof).toEqual(good)
    expect(prover.waitsFor()).toBeUndefined()
  })

  it('stops asking when its round is cut off, and then proves nothing itself', async () => {
    const { url } = await startServer(() => new Promise(() => undefined))
    const { prove, own, events } = startClient(url)
    const stop = new AbortController()
    const proof = prove(stop.signal)
    stop.abort(new Error('stopping'))
    await expect(proof).rejects.toThrow('stopping')
    expect([own, events]).toEqual([[], []])
  })
})

describe('a decider', () => {
  it('answers nobody without the token, except that it is there', async () => {
    const { app } = await startServer(async () => good)
    for (const authorization of ['', 'Bearer wrong', token]) {
      expect((await post(app, jobOf('a'), authorization)).statusCode).toBe(401)
      const read = await app.inject({ url: '/jobs/a', headers: { authorization } })
      expect(read.statusCode).toBe(401)
    }
    expect((await app.inject('/healthz')).statusCode).toBe(200)
  })

  it('takes a job once: 202 for a new one, 200 for a known one, 409 for another witness under its id', async () => {
    let proofs = 0
    const { app } = await startServer(async () => {
      proofs += 1
      return good
    })
    expect(await post(app, jobOf('a')).then(({ statusCode }) => statusCode)).toBe(202)
    const headers = { authorization: `Bearer ${token}` }
    const read = () => app.inject({ url: '/jobs/a', headers })
    await until(async () => (await read()).json().status === 'completed')
    expect((await read()).json()).toEqual({
      job_id: 'a',
      circuit,
      status: 'completed',
      result: encodeProof(good),
      error: null,
    })
    expect((await post(app, jobOf('a'))).statusCode).toBe(200)
    expect((await post(app, jobOf('a', { ...input, value: 8n }))).statusCode).toBe(409)
    expect(proofs).toBe(1)
    expect((await app.inject({ url: '/jobs/b', headers })).statusCode).toBe(404)
  })

  it('tries a failed job again when it is submitted again', async () => {
    let tries = 0
    const { app } = await startServer(async () => {
      tries += 1
      if (tries === 1) throw new Error('the prover crashed')
      return good
    })
    const headers = { authorization: `Bearer ${token}` }
    const statusIs = (status: string) =>
      until(async () => (await app.inject({ url: '/jobs/a', headers })).json().status === status)
    await post(app, jobOf('a'))
    await statusIs('failed')
    expect((await post(app, jobOf('a'))).statusCode).toBe(202)
    await statusIs('completed')
  })

  it('refuses what it cannot read and what it has no keys for', async () => {
    const { app } = await startServer(async () => good)
    const statusOf = async (body: object) => (await post(app, body)).statusCode
    expect(await statusOf({})).toBe(400)
    expect(await statusOf({ ...jobOf('a'), job_id: ' ' })).toBe(400)
    expect(await statusOf({ ...jobOf('a'), circuit: 'root-16' })).toBe(400)
    expect(await statusOf({ ...jobOf('a'), ivc_proof: '!' })).toBe(400)
    expect(await statusOf({ ...jobOf('a'), ivc_proof: Buffer.from('nothing').toString('base64') })).toBe(400)
    expect(await statusOf({ ...jobOf('a'), ivc_proof: 'A'.repeat(2 * 1024 * 1024) })).toBe(413)
  })

  it('lets only so many jobs wait, and forgets ended ones for new ones', async () => {
    const ends: (() => void)[] = []
    const { app } = await startServer(() => new Promise((resolve) => ends.push(() => resolve(good))))
    const statusOf = async (id: string) => (await post(app, jobOf(id))).statusCode
    expect([await statusOf('a'), await statusOf('b'), await statusOf('c')]).toEqual([202, 202, 202])
    const refused = await post(app, jobOf('d'))
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '5'])
    for (let proved = 0; proved < 3; proved++) {
      await until(() => ends.length > proved)
      ends[proved]?.()
    }
    await until(async () => (await statusOf('d')) === 202)
    await until(() => ends.length === 4)
    ends[3]?.()
    await until(async () => (await statusOf('e')) === 202)
    const headers = { authorization: `Bearer ${token}` }
    expect((await app.inject({ url: '/jobs/a', headers })).statusCode).toBe(404)
  })
})
