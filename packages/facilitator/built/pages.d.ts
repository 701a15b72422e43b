/** Made by `scripts/bundle.mjs` from `packages/pages/src`: scripts and style of the pages for operators and participants. */
export const dashboard: string
export const history: string
export const style: string
