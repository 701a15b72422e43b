/** Every log event and its fields. Secrets and bodies are in none of them. */
import type { RelayerEvent } from '../adapters/relayer.js'
import type { PaymentEvent } from '../payment/ports.js'

export type LifecycleEvent =
  | {
      readonly event: 'facilitator.ready'
      readonly url: string
      readonly network: string
      readonly profile: string
    }
  | { readonly event: 'facilitator.warning'; readonly message: string }
  | { readonly event: 'facilitator.stopping'; readonly signal: string }
  | { readonly event: 'facilitator.stopped' }
  | { readonly event: 'journal.replayed'; readonly records: number; readonly tornBytes: number }
  | { readonly event: 'journal.failed'; readonly err: unknown }
  | { readonly event: 'request.failed'; readonly route: string; readonly err: unknown }
  | { readonly event: 'address.failed'; readonly err: unknown }
  /** The thread that recovers signers ended; the daemon goes on without it, slower. */
  | { readonly event: 'recovery.lost'; readonly err: unknown }

export type LogEvent = LifecycleEvent | PaymentEvent | RelayerEvent

export type Log = (event: LogEvent) => void

const warnings = new Set<LogEvent['event']>([
  'facilitator.warning',
  'burn.failed',
  'burn.late',
  'burn.unmatched',
  'issuance.paused',
  'relayer.fee_raised',
  'relayer.send_refused',
  'relayer.displaced',
  'relayer.gap_filled',
  'rpc.failed',
])
const errors = new Set<LogEvent['event']>([
  'journal.failed',
  'relayer.unfunded',
  'burn.interrupted',
  'request.failed',
  'address.failed',
  'recovery.lost',
])

export function levelOf({ event }: LogEvent): 'info' | 'warn' | 'error' {
  if (errors.has(event)) return 'error'
  return warnings.has(event) ? 'warn' : 'info'
}
