/** The indexer's log for its operator, one JSON object a line. */
export type LogEvent =
  | { event: 'indexer.ready'; url: string; folder: string; chainId: number; token: string; size: number }
  | { event: 'indexer.stopping'; signal: string }
  | { event: 'indexer.stopped' }
  | { event: 'sync.advanced'; block: number; size: number; transfers: number }
  | { event: 'sync.reorg'; from: number; to: number; size: number; dropped: number }
  | { event: 'sync.rolled_back'; to: number; size: number; dropped: number }
  | { event: 'sync.failed'; code: string; err: unknown; retryMs: number }
  | { event: 'request.failed'; route: string; err: unknown }
  | { event: 'root.reserved'; index: number; transaction: string }
  | { event: 'root.proving'; circuit: string; oldIndex: number; newIndex: number; pending: number }
  | { event: 'root.proved'; circuit: string; newIndex: number; ms: number }
  | {
      event: 'root.submitted'
      newIndex: number
      checkpoint: number
      transaction: string
      /** Undefined when the node does not tell. */
      gasUsed: bigint | undefined
    }
  | { event: 'root.outrun'; oldIndex: number; newIndex: number; provedIndex: number }
  | { event: 'root.failed'; code: string; err: unknown; retryMs: number }

export type Log = (event: LogEvent) => void

type Level = 'debug' | 'info' | 'warn' | 'error'

export const levelOf = ({ event }: LogEvent): Level => levels[event]

const levels: Record<LogEvent['event'], Level> = {
  'indexer.ready': 'info',
  'indexer.stopping': 'info',
  'indexer.stopped': 'info',
  'sync.advanced': 'info',
  'sync.reorg': 'warn',
  'sync.rolled_back': 'error',
  'sync.failed': 'error',
  'request.failed': 'error',
  'root.reserved': 'info',
  'root.proving': 'info',
  'root.proved': 'info',
  'root.submitted': 'info',
  'root.outrun': 'info',
  'root.failed': 'error',
}
