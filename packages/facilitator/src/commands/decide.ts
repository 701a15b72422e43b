/** `decide`: a decider, which makes batch proofs for facilitators elsewhere. */
import { exitCodes, onStopSignal } from '@svc-zerc20/daemon'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { readDeciderToken } from '../config/secrets/secrets.js'
import { isLoopback } from '../config/settings.js'
import { addCommand, examples, exitCodesHelp, failWith, type Shell, whole } from './shell.js'

const decideHelp = `
Serves POST /jobs and GET /jobs/{id} to whoever has the token, and GET /healthz to everybody. A job's witness holds the
secrets of its burn addresses: run it yourself, and put TLS before it unless it listens on loopback alone. Jobs are kept
in memory; after a restart a facilitator submits them again. Logs JSON lines; "decider.ready" tells the URL.

Environment:
  SVC_DECIDER_TOKEN  bearer token, at least 16 characters, the same as at the facilitator; required`

type DecideOptions = {
  readonly artifacts: string
  readonly listen: { readonly host: string; readonly port: number }
  readonly processes: number
}

export function addDecide(program: Command, shell: Shell): void {
  const usual = '127.0.0.1:8081'
  addCommand(
    program,
    'decide',
    'run a decider, which makes batch proofs for facilitators elsewhere',
    decideHelp,
    examples(`svc-facilitator decide --artifacts artifacts --listen ${usual}`),
    exitCodesHelp,
  )
    .requiredOption('--artifacts <folder>', 'proving keys, the same as at the facilitator')
    .addOption(
      new Option('--listen <host:port>', 'where to serve')
        .argParser(endpoint)
        .default(endpoint(usual), usual),
    )
    .option('--processes <number>', 'proofs at once, each in a process of its own', whole(1, 64), 1)
    .action((options: DecideOptions) => decide(options, shell))
}

async function decide(options: DecideOptions, { env, output }: Shell): Promise<void> {
  const token = readDeciderToken(env)
  const { startDecider } = await import('@svc-zerc20/prover/decider')
  // A decider knows no chain. Development keys are for whoever asks from this machine.
  const missing = isLoopback(options.listen.host) ? [] : ['a loopback --listen']
  const onError = (route: string, err: unknown) => output.log({ event: 'request.failed', route, err })
  const decider = await startDecider({ ...options, missing, token, clock: systemClock, onError })
  output.log({ event: 'decider.ready', url: decider.url })
  onStopSignal(
    () =>
      void decider.close().then(
        () => output.exit(exitCodes.ok),
        (error) => failWith(error, { output }),
      ),
    // A second signal ends the process at once.
    () => void output.exit(exitCodes.ok),
  )
}

function endpoint(text: string): DecideOptions['listen'] {
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? []
  if (host === '' || Number(port) > 65_535)
    throw new InvalidArgumentError('a host and a port, such as 127.0.0.1:8081.')
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) }
}
