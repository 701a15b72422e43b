/**
 * The parts that every command needs: the payer of the environment, its warnings, and the places where a
 * human is asked.
 */
import { openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import type { Environment } from '../environment/variables.js'
import { type AssembledPayer, assemblePayer } from '../payer/assemble-payer.js'
import { partsFromEnvironment } from '../payer/payer-from-environment.js'
import { type Approver, firstOf } from '../policy/approval.js'
import { createFolderApprover } from '../policy/approval-folder.js'
import { createPageApprover } from '../policy/approval-page.js'
import { createTerminalApprover } from '../policy/approval-terminal.js'
import type { Io } from './output.js'

export type Session = {
  readonly payer: AssembledPayer
  readonly folder: string
  readonly approvals: string
  readonly warnings: readonly string[]
}

export type SessionOptions = {
  /** Asks on a page of this machine, too. */
  readonly page?: boolean
  /** A further place where a human is asked. */
  readonly approver?: Approver
  readonly fetch?: typeof globalThis.fetch
}

export function openSession(environment: Environment, io: Io, options: SessionOptions = {}): Session {
  const { parts, folder, warnings } = partsFromEnvironment(environment, {
    approver: (folder) => approverOf(approvalsIn(folder), io, options),
    ...(options.fetch && { fetch: options.fetch }),
  })
  return { payer: assemblePayer(parts), folder, approvals: approvalsIn(folder), warnings }
}

const approvalsIn = (folder: string) => join(folder, 'approvals')

/** Asks at this terminal if there is one, and always lets another terminal answer. */
function approverOf(folder: string, io: Io, { page = false, approver }: SessionOptions): Approver {
  const { terminal, stderr } = io
  const elsewhere = createFolderApprover({
    folder,
    clock: systemClock,
    onAsked: (request) => {
      const { challengeNonce } = request
      if (terminal === undefined) {
        stderr.write(
          `waiting for approval: in a terminal of your own, run svc-pay approve ${challengeNonce.slice(0, 12)}\n`,
        )
      }
    },
  })
  return firstOf(
    elsewhere,
    ...(terminal ? [createTerminalApprover({ input: terminal, output: stderr })] : []),
    ...(approver ? [approver] : []),
    ...(page ? [createPageApprover({ show: showOnTerminal })] : []),
  )
}

/** Writes to the terminal of the human, not to the output, which an agent may read. */
function showOnTerminal(url: string): void {
  writeSync(openSync('/dev/tty', 'w'), `\nApprove or refuse at ${url}\n`)
}
