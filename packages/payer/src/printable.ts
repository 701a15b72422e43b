/** A stranger's words: short, and without characters that move a cursor. */
export const printable = (text: string, charsMax: number): string =>
  text.slice(0, charsMax).replace(/[^\x20-\x7e]/g, '?')
