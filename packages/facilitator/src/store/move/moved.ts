/** The place that a ledger is moved to. Its `state` tells it, during the move and afterwards. */
import { SvcError } from '@svc-zerc20/protocol'
import { ledgerOld } from '../ledger-old.js'

/** The name of a place: a path, or the address of a database without its user. */
export type Place = string

export const movingTo = (place: Place): string => `moving to ${place}`
export const movedTo = (place: Place): string => `moved to ${place}`

const stageOf = (state: string) => /^(?<stage>moving|moved) to (?<place>.*)$/s.exec(state)?.groups

export const isElsewhere = (state: string): boolean => stageOf(state) !== undefined

/** Throws `SvcError('ledger_old')` for a ledger that lives elsewhere. */
export function assertHere(state: string, setting: string): void {
  const { stage, place } = stageOf(state) ?? {}
  if (stage === 'moved') throw ledgerOld(`this ledger was moved to ${place}`, setting)
  if (stage === 'moving') {
    throw ledgerOld(
      `a move of this ledger to ${place} was not finished; run the same \`move\` again`,
      setting,
    )
  }
}

/** A ledger that is there. */
export type Found = { readonly id: string; readonly applied: number; readonly state: string }

/** Which part of a move is still to do. Throws if it would overwrite a ledger or leave two live copies. */
export function leftOf(source: Found, target: Found | undefined, place: Place): 'all' | 'its end' {
  const { stage, place: begun } = stageOf(source.state) ?? {}
  if (stage === 'moved' || (stage === 'moving' && begun !== place)) assertHere(source.state, 'move')
  if (source.state === 'copy') {
    throw new SvcError('ledger_unusable', 'move: it is a backup; start a daemon on it once, and stop it')
  }
  if (stage === 'moving' && target?.id === source.id) return 'its end'
  if (target && target.applied > 0) {
    throw new SvcError('ledger_unusable', `--to: there is a ledger at ${place}; give an empty place`)
  }
  return 'all'
}
