/** Made by `scripts/bundle.mjs` from `packages/pages/src`: measurements as a page in one file. */
import type { Report } from '../../../packages/pages/src/report/report.js'

export function pageOf(report: Report): string
export type { Report }
