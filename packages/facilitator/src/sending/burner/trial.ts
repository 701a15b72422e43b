/** Tries a batch of burns at the newest block, in one `eth_call` that changes nothing. */
import { burnTrialBytecode } from '@svc-zerc20/contracts'
import { type JsonRpc, resultOf, wellFormed } from '@svc-zerc20/evm'
import type { Address, UnixSeconds } from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { addressWord, readWords, uintWord } from '../../chain/abi-words.js'
import type { LensBlock } from '../../chain/lens.js'
import type { ClaimedPermit } from '../../payment/records.js'
import { requestList } from './call.js'

export type Trial = {
  readonly at: LensBlock
  /** One per burn, in order: the revert data of those that would fail. */
  readonly refusals: readonly (Hex | undefined)[]
}

export type BurnTrial = (items: readonly ClaimedPermit[]) => Promise<Trial>

export function createBurnTrial(deps: {
  rpc: Pick<JsonRpc, 'batch'>
  token: Address
  helper: Address
}): BurnTrial {
  return async (items) => {
    const data = `${burnTrialBytecode}${trialArguments(deps.helper, items, deps.token)}`
    const [answer] = await deps.rpc.batch([{ method: 'eth_call', params: [{ data }, 'latest'] }])
    return wellFormed('eth_call', () => readTrial(resultOf('eth_call', answer)))
  }
}

/** The helper, and the place of the list behind both. */
export const trialArguments = (helper: Address, items: readonly ClaimedPermit[], token: Address): string =>
  `${addressWord(helper)}${uintWord(64)}${requestList(items, token)}`

/** Reads the answer of a trial. Throws where it is none. */
export function readTrial(data: unknown): Trial {
  const words = readWords(data)
  const outcomesAt = words.placeAt(2, 0)
  // Places of the outcomes are counted from the first of them.
  const first = outcomesAt + 1
  const refusals = Array.from({ length: words.lengthAt(outcomesAt, 1) }, (_, i) => {
    const at = words.placeAt(first + i, first)
    return words.flag(at) ? undefined : words.bytes(words.placeAt(at + 1, at))
  })
  return { at: { timestamp: words.small(0) as UnixSeconds, number: words.uint(1) }, refusals }
}
