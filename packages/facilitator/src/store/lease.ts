/**
 * Leases. Several daemons may share a store, and some work is for one of them at a time. A lease says whose it is. Its term
 * grows with each holder, and every step that is made under a lease compares the term in its own transaction: a daemon that
 * was stopped for a while and wakes up can change nothing that another one has taken over.
 */
import { SvcError } from '@svc-zerc20/protocol'

/** A lease by name, and the term in which a step was meant. */
export type Fence = { readonly name: string; readonly term: number }

export type Lease = {
  /** Absent where nobody else can reach the store. */
  readonly fence?: Fence
  /** Aborted once another daemon holds it. */
  readonly lost: AbortSignal
  release(): Promise<void>
}

export type Leases = {
  /** This daemon as others see it. Absent where nobody else can reach the store. */
  readonly holder?: string
  /** Undefined while another daemon holds it. */
  take(name: string): Promise<Lease | undefined>
}

/** The leases of a store that nobody else can reach. */
export const ownLeases: Leases = {
  take: async () => ({ lost: new AbortController().signal, release: async () => undefined }),
}

export const leaseLost = (message = 'another daemon does this work, or has taken it over'): SvcError =>
  new SvcError('lease_lost', message)
