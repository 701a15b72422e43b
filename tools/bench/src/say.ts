/** Lines and figures as all commands print them. */
export const say = (line: string) => process.stdout.write(`${line}\n`)

export const judge = (isReached: boolean, what: string) =>
  say(`${isReached ? 'reached' : 'MISSED '}  ${what}`)

export const median = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN

export const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`
