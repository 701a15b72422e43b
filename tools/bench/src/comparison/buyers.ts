/** The two buyers of the comparison: their programs, and the environment that each needs. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export type Buyer = {
  readonly url: string
  readonly command: readonly string[]
  readonly env: Record<string, string>
}

const script = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Our command, with limits and a state folder of its own, as an operator sets it up. */
export function svcPay(options: { url: string; rpcUrl: string; token: string; privateKey: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const buyer: Buyer = {
    url: options.url,
    command: [script('../../../../packages/payer/bin/svc-pay.mjs'), 'pay'],
    env: {
      SVC_PAYER_PK: options.privateKey,
      SVC_RPC_URL: options.rpcUrl,
      SVC_ALLOWED_TOKEN: options.token,
      SVC_MAX_PER_PAYMENT: '1000000',
      SVC_MAX_TOTAL: '100000000',
      SVC_STATE_DIR: folder,
    },
  }
  return { buyer, close: async () => rmSync(folder, { recursive: true, force: true }) }
}

export const officialClient = (url: string, privateKey: string): Buyer => ({
  url,
  command: [script('../processes/exact-buyer.js')],
  env: { PRIVATE_KEY: privateKey },
})
