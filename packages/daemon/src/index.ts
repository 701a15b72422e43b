export { closeAll } from './close-all.js'
export { type ExitCode, exitCodeFor, exitCodes } from './exit-codes.js'
export { callerKey } from './http/caller-key.js'
export {
  type ConnectionBounds,
  type ConnectionRefusal,
  type Connections,
  limitConnections,
  timeoutsOf,
} from './http/connections.js'
export { readBounded } from './http/read-bounded.js'
export { createLog, createProcessLog, type LogDestination, type ProcessLog } from './log.js'
export { onStopSignal } from './stop-signals.js'
