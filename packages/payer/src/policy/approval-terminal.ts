/** Asks at a terminal. Only the whole word `yes` is a yes. */
import { createInterface } from 'node:readline/promises'
import { type Approver, textOf } from './approval.js'

export function createTerminalApprover({
  input,
  output,
}: {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
}): Approver {
  return async (request, signal) => {
    const terminal = createInterface({ input, output })
    try {
      output.write(`\nA payment needs your approval:\n${textOf(request)}\n`)
      const answer = await terminal.question('Type yes to pay, anything else to refuse: ', { signal })
      return answer.trim() === 'yes'
    } finally {
      terminal.close()
    }
  }
}
