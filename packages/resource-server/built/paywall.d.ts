/** Made by `scripts/bundle.mjs` from `packages/pages/src`: what the paywall's page carries in itself. */
export const script: string
export const style: string
