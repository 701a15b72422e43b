import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { developmentRoles } from '@svc-zerc20/devnet'
import { expect } from 'vitest'
import { runProgram } from '../src/command/program.js'
import type { TestNetwork } from './network.js'

const main = fileURLToPath(new URL('../bin/svc-pay.mjs', import.meta.url))

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }
export type Variables = Record<string, string | undefined>

/** `svc-pay` of a payer with limits, whose folder is `state`. */
export function createSvcPay(net: TestNetwork, state: string) {
  function environmentOf(more: Variables): Record<string, string> {
    const { PATH } = process.env
    const SVC_PAYER_PK = developmentRoles.payer.privateKey
    const environment = {
      PATH,
      HOME: state,
      SVC_PAYER_PK,
      SVC_RPC_URL: net.rpcUrl,
      SVC_STATE_DIR: join(state, 'state'),
      SVC_ALLOWED_TOKEN: net.token,
      SVC_MAX_PER_PAYMENT: '1000',
      SVC_MAX_TOTAL: '5000',
      ...more,
    }
    const set = Object.entries(environment).filter(([, value]) => value !== undefined)
    return Object.fromEntries(set) as Record<string, string>
  }

  /** The command as its own process. */
  function start(args: readonly string[], more: Variables = {}) {
    const child: ChildProcess = spawn(process.execPath, [main, ...args], {
      cwd: state,
      env: environmentOf(more),
    })
    child.stdin?.end()
    const stdout = collect(child.stdout)
    const stderr = collect(child.stderr)
    const ended = once(child, 'close').then(([code]): Ended => ({ code, stdout: stdout(), stderr: stderr() }))
    return { child, ended }
  }

  /** The command inside this process, which saves the start of one. */
  async function svcPay(args: readonly string[], more: Variables = {}): Promise<Ended> {
    const [out, err, stdin] = [new PassThrough(), new PassThrough(), new PassThrough()]
    const [stdout, stderr] = [collect(out), collect(err)]
    stdin.end()
    let code: number | null = null
    const io = { stdout: out, stderr: err, terminal: undefined, isColoured: false }
    const end = (ended: number) => {
      code = ended
    }
    await runProgram({ version: '0', environment: environmentOf(more), io, stdin, end }, args)
    return { code, stdout: stdout(), stderr: stderr() }
  }

  async function svcPayJson(args: readonly string[], more?: Variables) {
    const { code, stdout } = await svcPay([...args, '--json'], more)
    const answer = JSON.parse(stdout)
    expect(answer).toMatchObject({
      command: args[0],
      exitCode: code,
      ok: code === 0,
      warnings: expect.any(Array),
    })
    return answer
  }

  return { start, svcPay, svcPayJson }
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  let text = ''
  stream?.on('data', (part) => {
    text += part
  })
  return () => text
}
