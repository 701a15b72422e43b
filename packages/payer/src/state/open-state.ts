/** The state folder: totals, payments, approvals and the audit log, for all processes that share it. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Address, Clock } from '@svc-zerc20/protocol'
import type { PayerLimits } from '../limits.js'
import { PayerError } from '../payer-error.js'
import { type AccountState, parseAccountState } from './account-queue.js'
import { type AuditLog, auditFile, createAuditLog, noAudit } from './audit-log.js'
import { createTotals, type Totals } from './capped-totals.js'
import { createDurablePayments } from './durable-payments.js'
import { othersMayWrite } from './files.js'
import { createKeptAnswers, type KeptAnswers } from './kept-answers.js'
import { createPaymentMemory, type PaymentMemory } from './payments.js'
import { type PermitLanes, parsePermitLanes } from './permit-nonces.js'
import { emptyState, parseSpendState, type SpendState } from './spend-state.js'
import { type Cell, createMemoryCell, createVersionedFile } from './versioned-file.js'

export type PayerState = {
  readonly totals: Totals
  readonly audit: AuditLog
  readonly memory: PaymentMemory
  /** Bought answers that nobody has yet. Undefined: answers are kept nowhere, and a lost one is asked for again. */
  readonly kept: KeptAnswers | undefined
  /** Transactions of an account that all processes have signed. */
  account(chainId: number, address: Address): Cell<AccountState>
  /** The permit nonces of an account that all processes hold. */
  permits(chainId: number, address: Address): Cell<PermitLanes>
}

type StateParts = { readonly clock: Clock; readonly limits: PayerLimits }

/** State that ends with the process. */
export const createMemoryState = ({ clock, limits }: StateParts): PayerState => ({
  totals: createTotals({ cell: createMemoryCell(), clock, limits }),
  audit: noAudit,
  memory: createPaymentMemory({ clock, limits }),
  kept: undefined,
  account: createMemoryCell,
  permits: createMemoryCell,
})

/** Opens the state folder. Files are written on first use. */
export function openState({
  folder,
  clock,
  limits,
}: StateParts & { readonly folder: string }): PayerState & { readonly kept: KeptAnswers } {
  const cell = createSpendCell(folder, clock)
  const log = createAuditLog({ folder, clock })
  const shared = <T>(kind: string, name: string, parse: (raw: unknown) => T | undefined) =>
    createVersionedFile({ folder: join(folder, kind, name), parse, clock })
  return {
    totals: createTotals({ cell, clock, limits }),
    audit: {
      ...log,
      async append(entry) {
        await cell.read() // totals are written first: a log without totals means that they were lost
        await log.append(entry)
      },
    },
    memory: createDurablePayments({ folder: join(folder, 'payments'), clock, limits }),
    kept: createKeptAnswers({ folder: join(folder, 'answers'), clock, limits }),
    account: (chainId, address) => shared('accounts', `${chainId}-${address}`, parseAccountState),
    permits: (chainId, address) => shared('permits', `${chainId}-${address}`, parsePermitLanes),
  }
}

/** Removed totals must not restart at zero, or removing them would allow spending everything again. */
function createSpendCell(folder: string, clock: Clock): Cell<SpendState> {
  const spending = join(folder, 'spending')
  const inner = createVersionedFile({ folder: spending, parse: parseSpendState, clock })

  async function begin(): Promise<void> {
    await assertOurs(folder)
    if ((await inner.read()) !== undefined) return
    const log = await stat(join(folder, auditFile)).catch(() => undefined)
    // Another process may have written the first totals between the two reads.
    if (log && log.size > 0 && (await inner.read()) === undefined) throw lost(spending)
    await inner.update((before) => before ?? emptyState)
  }

  let begun: Promise<void> | undefined
  const ready = () => {
    begun ??= begin().catch((error) => {
      begun = undefined
      throw error
    })
    return begun
  }

  return {
    async read() {
      await ready()
      const state = await inner.read()
      if (state === undefined) throw lost(spending)
      return state
    },
    async update(change) {
      await ready()
      return inner.update((before) => {
        if (before === undefined) throw lost(spending)
        return change(before)
      })
    },
  }
}

/** A process that can write the totals can reset them. */
async function assertOurs(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined)
  const fault = found && othersMayWrite(found)
  if (fault) throw new PayerError('state_unusable', `${folder}: ${fault}`)
}

const lost = (folder: string) =>
  new PayerError(
    'state_unusable',
    `${folder} has no totals, though the audit log beside it knows of payments`,
  )
