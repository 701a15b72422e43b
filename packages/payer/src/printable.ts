/** A stranger's words, cut short, with every character replaced that is not printable ASCII. */
export const printable = (text: string, charsMax: number): string =>
  text.slice(0, charsMax).replace(/[^\x20-\x7e]/g, '?')
