/** The report of `recover`: what it found and did, for people and for scripts. */
import { type ExitCode, exitCodes } from '@svc-zerc20/daemon'
import { textTable } from '@svc-zerc20/protocol'
import type { Step } from '../../payment/finalize/round.js'
import { waitReasons } from '../../payment/waits.js'
import type { FoundBurn } from './find-burns.js'

export type RecoveredBurn = {
  readonly challengeNonce: string
  readonly transaction: string
  readonly value: string
  readonly source: FoundBurn['source']
  /** `due` occurs only in a dry run: the burn would be minted. */
  readonly state: 'finalized' | 'due' | 'waiting' | 'failed'
  readonly reason?: string
}

export type RecoveryReport = {
  readonly dryRun: boolean
  readonly found: number
  readonly finalized: number
  readonly due: number
  readonly waiting: number
  readonly failed: number
  readonly burns: readonly RecoveredBurn[]
}

/** `stepOf` returns a burn's last step, or undefined when no round looked at it. */
export function reportOf(
  found: readonly FoundBurn[],
  stepOf: (burn: FoundBurn) => Step | 'due' | undefined,
  dryRun: boolean,
): RecoveryReport {
  const burns = found.map((burn): RecoveredBurn => {
    const standing = burn.leftAlone ? standingOf(burn.leftAlone) : standingAt(stepOf(burn))
    return {
      challengeNonce: burn.nonce,
      transaction: burn.burn.txHash,
      value: `${burn.burn.value}`,
      source: burn.source,
      ...standing,
    }
  })
  const count = (state: RecoveredBurn['state']) => burns.filter((burn) => burn.state === state).length
  return {
    dryRun,
    found: burns.length,
    finalized: count('finalized'),
    due: count('due'),
    waiting: count('waiting'),
    failed: count('failed'),
    burns,
  }
}

type Standing = Pick<RecoveredBurn, 'state' | 'reason'>

const waiting = (reason: string): Standing => ({ state: 'waiting', reason })

const leftAloneReasons: Readonly<Record<NonNullable<FoundBurn['leftAlone']>, string>> = {
  open: 'its payer can still present it',
  claimed: 'its payer presented it: start the daemon',
  burn_lost: 'a reorg took it, and no block holds it',
  underived:
    'our relayer sent it, and its address derives from nothing here: name the old zerc20.pow_bits with --pow-bits, or run ' +
    'recover with the treasury key, settlement.treasury and zerc20.generation of its day',
}

const standingOf = (why: NonNullable<FoundBurn['leftAlone']>): Standing => ({
  state: why === 'underived' ? 'failed' : 'waiting',
  reason: leftAloneReasons[why],
})

function standingAt(step: Step | 'due' | undefined): Standing {
  if (step === 'finalized' || step === 'due') return { state: step }
  if (step === 'failed') return { state: 'failed', reason: 'see above; it is worth another try' }
  if (step === undefined || step === 'interrupted') return waiting('its turn did not come')
  return waiting(waitReasons[step === 'mined' ? 'confirming' : step])
}

/**
 * Exit code 1 when a burn of ours cannot be minted with what is known here. Otherwise 75 when a burn still waits or may
 * succeed later, and 0 after a dry run.
 */
export function exitCodeOf({ dryRun, found, finalized, burns }: RecoveryReport): ExitCode {
  if (burns.some(({ reason }) => reason === leftAloneReasons.underived)) return exitCodes.mistake
  return dryRun || found === finalized ? exitCodes.ok : exitCodes.tryAgain
}

export function print(report: RecoveryReport): string {
  const { dryRun, found, finalized, due, waiting, failed } = report
  const rows = report.burns.map(({ challengeNonce, transaction, value, source, state, reason }) => [
    state,
    value,
    source,
    challengeNonce,
    transaction,
    reason ?? '',
  ])
  const burns = rows.length
    ? textTable([['state', 'value', 'source', 'challenge nonce', 'burn', ''], ...rows])
    : ''
  const totals = dryRun ? `${due} due, ${waiting} waiting` : `${finalized} finalized, ${waiting} waiting`
  return `${burns}${found} found: ${totals}, ${failed} failed${dryRun ? '; nothing was changed' : ''}\n`
}
