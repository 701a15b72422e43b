/** The rights of each profile. Only the explicit setting `local` moves money; nothing is inferred. */
import type { Config } from './config.js'

export type Profile = { readonly name: string; readonly acceptsPayments: boolean }

export function profileOf({ profile }: Pick<Config, 'profile'>): Profile {
  return { name: profile ?? 'unset', acceptsPayments: profile === 'local' }
}
