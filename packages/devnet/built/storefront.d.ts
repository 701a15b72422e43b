/** Made by `scripts/bundle.mjs` from `packages/pages/src`: the storefront, and what the devnet adds to pages of the shop. */
export const script: string
export const style: string
export const addedStyle: string
/** What the pages are told of a payment. */
export type { Journey, Step, StepName } from '../../pages/src/storefront/journey.js'
