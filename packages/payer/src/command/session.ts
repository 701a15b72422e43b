/** What every command needs: the payer of the environment, its warnings, and the places where a human is asked. */
import { openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type Approver, firstOf } from '../approval/approval.js'
import { createFolderApprover } from '../approval/folder.js'
import { createPageApprover } from '../approval/page.js'
import { createTerminalApprover } from '../approval/terminal.js'
import { systemClock } from '../clock.js'
import type { Environment } from '../environment/read-environment.js'
import { type AssembledPayer, assemblePayer } from '../payer/assemble-payer.js'
import { partsFromEnvironment } from '../payer/payer-from-environment.js'
import type { Io } from './output.js'

export type Session = {
  readonly payer: AssembledPayer
  readonly folder: string
  readonly approvals: string
  readonly warnings: readonly string[]
}

export function openSession(environment: Environment, io: Io, { page = false } = {}): Session {
  const { parts, warnings } = partsFromEnvironment(environment, {
    approver: (folder) => approverOf(approvalsIn(folder), io, page),
  })
  const { stateFolder: folder } = parts
  return { payer: assemblePayer(parts), folder, approvals: approvalsIn(folder), warnings }
}

const approvalsIn = (folder: string) => join(folder, 'approvals')

/** At this terminal where there is one, and always from another one. */
function approverOf(folder: string, io: Io, page: boolean): Approver {
  const { terminal, stderr } = io
  const elsewhere = createFolderApprover({
    folder,
    clock: systemClock,
    onAsked: ({ challengeNonce }) => {
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
    ...(page ? [createPageApprover({ show: showOnTerminal })] : []),
  )
}

/** To the terminal of the human and not to the output, which an agent may read. */
function showOnTerminal(url: string): void {
  writeSync(openSync('/dev/tty', 'w'), `\nApprove or refuse at ${url}\n`)
}
