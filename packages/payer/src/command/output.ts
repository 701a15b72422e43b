/** The output of `svc-pay`: text for people, or one JSON object of one shape for programs. */
import { CodedError } from '@svc-zerc20/protocol'
import { type ExitCode, exitCodes, exitOf, PayerError } from '../payer-error.js'

/** The result of a command. */
export type Report = {
  readonly exitCode: ExitCode
  /** For programs. Everything in it fits into JSON. */
  readonly result: Readonly<Record<string, unknown>>
  /** For people, with its line breaks. */
  readonly text: string | Uint8Array
  /** Called once all of it was written. */
  readonly written?: () => Promise<void>
}

export type Io = {
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
  /** Undefined when no human can type. */
  readonly terminal: NodeJS.ReadableStream | undefined
  readonly isColoured: boolean
}

/** Runs a command and prints its result. Resolves with the exit code. */
export async function run(
  io: Io,
  { command, json }: { readonly command: string; readonly json: boolean },
  work: (warn: (warning: string) => void) => Promise<Report>,
): Promise<ExitCode> {
  const warnings: string[] = []
  const warn = (warning: string) => {
    warnings.push(warning)
    if (!json) io.stderr.write(`${paint(io, 'yellow', 'warning')}: ${visible(warning)}\n`)
  }
  try {
    const { exitCode, result, text, written } = await work(warn)
    const report = { ok: exitCode === exitCodes.ok, command, exitCode, result, warnings }
    if (await write(io.stdout, json ? jsonOf(report) : text)) await written?.()
    return exitCode
  } catch (error) {
    const exitCode = exitCodes[exitOf(error)]
    if (json) writeJson(io, { ok: false, command, exitCode, error: describe(error), warnings })
    else io.stderr.write(`${paint(io, 'red', 'error')}: ${visible(messageOf(error))}\n`)
    return exitCode
  }
}

/** Prints a mistake in the command line, in the same shape as every other failure. */
export const writeFailure = (
  io: Io,
  command: string,
  error: { readonly code: string; readonly message: string },
) => writeJson(io, { ok: false, command, exitCode: exitCodes.usage, error, warnings: [] })

/**
 * Words of strangers get into warnings and errors: a node's, a library's. None of them may move the cursor, change the
 * direction of a line or be invisible.
 */
const visible = (text: string): string => text.replace(/[^\P{C}\n]|[\u2028\u2029]/gu, '?')

const jsonOf = (value: object) => `${JSON.stringify(value, undefined, 2)}\n`
const writeJson = (io: Io, value: object) => io.stdout.write(jsonOf(value))

/** Whether the reader took all of it. */
const write = (stream: NodeJS.WritableStream, text: string | Uint8Array) =>
  new Promise<boolean>((resolve) => stream.write(text, (error) => resolve(!error)))

function describe(error: unknown): object {
  if (error instanceof PayerError) {
    const { code, detail, todo, reason, rule, burnTxHash, message } = error
    return { code, message, detail, todo, reason, rule, burnTxHash }
  }
  return { code: error instanceof CodedError ? error.code : 'failed', message: messageOf(error) }
}

/** The messages of an error and of its cause, which a bare `fetch failed` leaves out. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof CodedError) return error.message
  const { cause } = error
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message
}

const colours = { red: 31, green: 32, yellow: 33, dim: 2 } as const

export const paint = (io: Pick<Io, 'isColoured'>, colour: keyof typeof colours, text: string): string =>
  io.isColoured ? `\u001b[${colours[colour]}m${text}\u001b[0m` : text
