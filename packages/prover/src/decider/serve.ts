/** A decider: proves for facilitators elsewhere. It has proving keys and a token, and no other secret. */
import { closeAll } from '@svc-zerc20/daemon'
import { type Clock, Secret, SvcError } from '@svc-zerc20/protocol'
import { ArtifactError, circuitsIn, keysRefused, readArtifacts } from '@svc-zerc20/zk'
import { createProver } from '../prover.js'
import { createJobs } from './jobs.js'
import { deciderLimits } from './limits.js'
import { createDeciderServer } from './server.js'

export type DeciderOptions = {
  readonly artifacts: string
  /** The conditions for development keys that do not hold here. */
  readonly missing: readonly string[]
  readonly listen: { readonly host: string; readonly port: number }
  readonly processes: number
  readonly token: string
  readonly clock: Pick<Clock, 'now'>
  readonly onError: (route: string, err: unknown) => void
}

export async function startDecider(
  options: DeciderOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  const { processes } = options
  const { folder, manifest } = await readArtifacts(options.artifacts).catch((err: unknown) => {
    if (!(err instanceof ArtifactError)) throw err
    throw new SvcError('config_invalid', `--artifacts: ${err.message}`, { cause: err })
  })
  const refused = keysRefused(manifest, options.missing)
  if (refused !== undefined) throw new SvcError('config_invalid', `--artifacts: ${refused}`)
  const prover = createProver({ folder, processes })
  const jobs = createJobs({
    prove: (circuit, input, signal) => prover.prove(circuit, input, { signal }),
    clock: options.clock,
    limits: { ...deciderLimits.jobs, underWayMax: processes + deciderLimits.jobsWaitingMax },
  })
  const app = createDeciderServer({
    jobs,
    token: new Secret(options.token),
    circuits: circuitsIn(manifest),
    onError: options.onError,
  })
  const close = () => closeAll([() => app.close(), () => jobs.close(), () => prover.close()])
  try {
    return { url: await app.listen(options.listen), close }
  } catch (error) {
    await close()
    throw error
  }
}
