/** One purchase from the command to the answer, the start of the program included: `svc-pay`, and the official client. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Buyer } from './buyers.js'
import { percentile } from './figures.js'

/** Milliseconds of each purchase. */
export type Purchases = { readonly svcPay: readonly number[]; readonly official: readonly number[] }

const run = promisify(execFile)

/** Buys by turns. A purchase waits for the next block, at any moment of its time, so only averages of many count. */
export async function measurePurchases(ours: Buyer, official: Buyer, trials: number): Promise<Purchases> {
  const times = { svcPay: [] as number[], official: [] as number[] }
  for (let trial = 0; trial < trials; trial++) {
    const turns = [
      async () => times.svcPay.push(await buy(ours)),
      async () => times.official.push(await buy(official)),
    ]
    for (const turn of trial % 2 === 0 ? turns : turns.reverse()) await turn()
  }
  return times
}

async function buy({ command, url, env }: Buyer): Promise<number> {
  const startedAtMs = performance.now()
  const { stdout } = await run(process.execPath, [...command, url], {
    env: { PATH: process.env.PATH, ...env },
  })
  const tookMs = performance.now() - startedAtMs
  if (!stdout.includes('"thought"')) throw new Error(`${command.join(' ')} bought nothing: ${stdout}`)
  return tookMs
}

const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

export const buyingRatio = ({ svcPay, official }: Purchases): number => average(svcPay) / average(official)

export function purchaseLine({ svcPay, official }: Purchases): string {
  const words = (values: readonly number[]) =>
    `${average(values).toFixed(0)} ms on average, ${percentile(values, 0.5).toFixed(0)} in the middle`
  return [
    `one purchase, start of the program included, ${svcPay.length} each:`,
    `  svc-pay pay                        ${words(svcPay)}`,
    `  a script with @x402/fetch, exact   ${words(official)}`,
  ].join('\n')
}
