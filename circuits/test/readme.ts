import { readFileSync } from 'node:fs'
import { domainOf } from '../src/development-setup/development-setup.js'
import type { R1cs } from '../src/files/r1cs.js'

/** The row of a circuit in the README, from its constraints on. */
export function readmeCounts(name: string): string | undefined {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const row = readme.split('\n').find((line) => line.startsWith(`| \`${name}\` |`))
  return row?.split('|').slice(4, 6).join('|').trim()
}

/** The counts of a compiled circuit, in the form of the README. */
export function countsOf(r1cs: R1cs): string {
  return `${r1cs.constraints} | 2^${Math.log2(domainOf(r1cs))}`
}
