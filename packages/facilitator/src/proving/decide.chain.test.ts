/** The decider as a process, with real keys and real proofs, killed in the middle. */
import { setTimeout as wait } from 'node:timers/promises'
import { ensureArtifacts } from '@svc-zerc20/circuits'
import { Secret } from '@svc-zerc20/protocol'
import { createDeciderProver, type DeciderEvent } from '@svc-zerc20/prover/decider-client'
import { createVerify } from '@svc-zerc20/prover/verify'
import { keysOf, readArtifacts } from '@svc-zerc20/zk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../test/support/until.js'
import { sampleInput } from '../../../prover/test/samples.js'
import { runCommand, startCommand } from '../../test/command.js'
import { linesOf } from '../../test/daemon.js'

const token = 'a-token-that-nobody-guesses'
const circuit = 'withdraw-local'
const clock = {
  now: () => performance.now(),
  sleep: (ms: number, signal?: AbortSignal) =>
    wait(ms, undefined, signal && { signal }).catch(() => undefined),
}
let artifacts: string
let powBits: number
let verify: ReturnType<typeof createVerify>
const running: ReturnType<typeof startCommand>[] = []
beforeAll(async () => {
  artifacts = await ensureArtifacts()
  const { manifest } = await readArtifacts(artifacts)
  powBits = manifest.powBits
  verify = createVerify(keysOf(manifest, circuit).verificationKey)
})
afterAll(async () => {
  for (const decider of running) {
    decider.signal('SIGKILL')
    await decider.ended
  }
})

async function startDecider(port = 0) {
  const args = ['decide', '--artifacts', artifacts, '--listen', `127.0.0.1:${port}`]
  const decider = startCommand(args, { SVC_DECIDER_TOKEN: token })
  running.push(decider)
  const ready = await until(() =>
    linesOf(decider.output.stdout).find(({ event }) => event === 'decider.ready'),
  )
  return { url: ready.url ?? '', decider }
}

function startClient(url: string) {
  const events: DeciderEvent[] = []
  const prover = createDeciderProver({
    url,
    token: new Secret(token),
    circuits: { [circuit]: ['root', 'recipient', 'withdrawValue'] },
    own: { prove: () => expect.fail('the decider should prove') },
    verify: (_, proof) => verify(proof),
    clock,
    report: (event) => events.push(event),
    limits: { pollMs: 100, answerMs: 10_000, answerBytesMax: 65_536, silentMs: 60_000, patienceMs: 300_000 },
  })
  const prove = (input: ReturnType<typeof sampleInput>) =>
    prover.prove(circuit, input, { signal: new AbortController().signal })
  return { prove, events }
}

describe('svc-facilitator decide', () => {
  it('proves with development keys for its own machine alone', async () => {
    const args = ['decide', '--artifacts', artifacts, '--listen', '0.0.0.0:0']
    const { code, stderr } = await runCommand(args, { SVC_DECIDER_TOKEN: token })
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('keys of a development setup, which need a loopback --listen'),
    ])
  })

  it('proves, though it is killed in the middle, and a daemon that starts again finds its proof', async () => {
    const { url, decider } = await startDecider()
    const input = sampleInput(circuit, powBits)
    const { prove, events } = startClient(url)
    const proving = prove(input)
    // The first proof loads its key, which takes longer than this.
    await wait(200)
    decider.signal('SIGKILL')
    await decider.ended
    await startDecider(Number(new URL(url).port))
    const proof = await proving
    expect(verify(proof)).toBe(true)
    expect(events).toMatchObject([{ event: 'decider.proved' }])
    // Two proofs of one witness differ by their randomness, so this is the same one.
    expect(await startClient(url).prove(input)).toEqual(proof)
  })

  it('wants a token and keys, and says so', async () => {
    const args = ['decide', '--artifacts', artifacts, '--listen', '127.0.0.1:0']
    const short = await runCommand(args, { SVC_DECIDER_TOKEN: 'short' })
    expect([short.code, short.stderr]).toEqual([
      1,
      expect.stringMatching(/^fail SVC_DECIDER_TOKEN: must be /),
    ])
    const empty = await runCommand(['decide', '--artifacts', '/nowhere'], { SVC_DECIDER_TOKEN: token })
    expect([empty.code, empty.stderr]).toEqual([1, expect.stringMatching(/^fail --artifacts: /)])
  })
})
