/** Reads the file of a history from its first line to its last, and tells whether it is whole. */
import { existsSync } from 'node:fs'
import { SvcError } from '@svc-zerc20/protocol'
import { readLines } from '../store/journal/read.js'
import type { HistoryBinding, HistoryLine } from './history-file.js'

export type VerifiedHistory = {
  readonly records: number
  readonly payments: number
  readonly tornBytes: number
  /** Whose history it is, as far as the file tells. */
  readonly binding?: HistoryBinding
  /** Empty when the file is whole. */
  readonly problems: readonly string[]
}

const name = 'PAYMENT_HISTORY_PATH'

/** `wanted`: the chain and the token that it must belong to. */
export function verifyHistoryFile(path: string, wanted?: HistoryBinding): VerifiedHistory {
  const problems: string[] = []
  let records = 0
  let payments = 0
  let binding: HistoryBinding | undefined
  let tornBytes = 0
  if (!existsSync(path)) problems.push(`${path} does not exist`)
  try {
    const report = readLines<HistoryLine>(path, name, ({ content }) => {
      records += 1
      if (content.event === 'challenged') payments += 1
      if ('token' in content) binding = { chainId: content.chainId, token: content.token }
    })
    tornBytes = report.tornBytes
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    problems.push(error.message)
  }
  if (records > 0 && !binding) problems.push(`${path} does not begin as a history does`)
  if (wanted && binding && (binding.chainId !== wanted.chainId || binding.token !== wanted.token)) {
    problems.push(`${path} is the history of token ${binding.token} on chain ${binding.chainId}`)
  }
  return { records, payments, tornBytes, ...(binding && { binding }), problems }
}
