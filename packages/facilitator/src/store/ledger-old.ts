/** The refusal of a ledger that is not the newest. */
import { SvcError } from '@svc-zerc20/protocol'

export const ledgerOld = (why: string, setting = 'settlement.journal'): SvcError =>
  new SvcError(
    'ledger_old',
    `${setting}: ${why}. A daemon that does not know its newest payments grants them a second time and forgets ` +
      'what payers burned. Put the newest files back. If there are none, follow the guide "Restore a backup"; ' +
      '`--accept-copy` goes on with what is here',
  )
