/** The request that arguments describe. No request carries a key of the environment. */
import { readFile, realpath } from 'node:fs/promises'
import { SvcError } from '@svc-zerc20/protocol'
import { type Environment, isTakenOut } from '../environment/variables.js'

/** The parts of a request, as the command line gives them. */
export type RequestOptions = {
  readonly method?: string | undefined
  readonly header: readonly string[]
  readonly data?: string | undefined
  readonly bodyFile?: string | undefined
}

export async function requestOf(
  url: string,
  options: RequestOptions,
  { stdin, environment }: { readonly stdin: NodeJS.ReadableStream; readonly environment: Environment },
): Promise<Request> {
  const { data, bodyFile } = options
  if (data !== undefined && bodyFile !== undefined) throw usage('--data and --body-file exclude each other')
  const body = data ?? (bodyFile === undefined ? undefined : await readBody(bodyFile, stdin))
  const headers = options.header.map((line): [string, string] => {
    const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~0-9a-z-]+):\s*(.*)$/i.exec(line) ?? []
    if (name === '') throw usage('--header expects "Name: value"')
    if (/^(payment-|x-payment)/i.test(name))
      throw usage(`--header ${name}: payments are made by svc-pay alone`)
    return [name, value]
  })
  assertNoSecret([url, options.header.join('\n'), body ?? ''], environment)
  const method = options.method?.toUpperCase() ?? (body === undefined ? 'GET' : 'POST')
  try {
    return new Request(url, { method, headers, ...(body !== undefined && { body }) })
  } catch (cause) {
    throw new SvcError('payer_misconfigured', `the request cannot be made: ${(cause as Error).message}`, {
      cause,
    })
  }
}

async function readBody(path: string, stdin: NodeJS.ReadableStream): Promise<Uint8Array<ArrayBuffer>> {
  if (path !== '-') {
    const place = await realpath(path).catch(cannotRead(path))
    if (place.startsWith('/proc/')) throw usage(`--body-file ${path}: files of running programs are not sent`)
    return new Uint8Array(await readFile(place).catch(cannotRead(path)))
  }
  const parts: Buffer[] = []
  for await (const part of stdin) parts.push(Buffer.from(part))
  return new Uint8Array(Buffer.concat(parts))
}

const cannotRead =
  (path: string) =>
  (cause: Error): never => {
    throw new SvcError('payer_misconfigured', `--body-file ${path}: ${cause.message}`, { cause })
  }

/** Shorter values occur by chance, and are no secrets. */
const secretCharsMin = 16

/**
 * Refuses a request with a key or token of the environment in it. An agent that chooses the arguments does not know the
 * key, but can name a file that has it, such as the one that the operator sets the environment from.
 */
function assertNoSecret(parts: readonly (string | Uint8Array)[], environment: Environment): void {
  const texts = parts.map((part) => Buffer.from(part).toString('latin1').toLowerCase())
  for (const [name, value = ''] of Object.entries(environment)) {
    const secret = value.toLowerCase().replace(/^0x/, '')
    if (!isTakenOut(name) || secret.length < secretCharsMin) continue
    if (texts.some((text) => text.includes(secret))) {
      throw usage(`the request contains the value of ${name}; nothing was sent`)
    }
  }
}

const usage = (message: string) => new SvcError('payer_misconfigured', message)
