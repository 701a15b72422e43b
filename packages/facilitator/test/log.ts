/** Writes events as JSON lines, each at the level of its row in the table. */
import * as Daemon from '@svc-zerc20/daemon'
import { type Log, levelOf } from '../src/telemetry/events.js'

export const createLog = (destination: Daemon.LogDestination): Log => Daemon.createLog(levelOf, destination)
