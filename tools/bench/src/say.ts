/** Lines as both commands print them. */
export const say = (line: string) => process.stdout.write(`${line}\n`)

/** A target that this run did not measure long enough has no verdict. */
export function judge(target: string, reached: string, isReached: boolean | undefined): void {
  const verdict = isReached === undefined ? 'not judged' : isReached ? 'reached' : 'MISSED'
  say(`${verdict.padEnd(10)}  ${target}: ${reached}`)
}

/** For `--help`: nothing is measured. */
export function explain(usage: string): never {
  say(usage)
  process.exit(0)
}
