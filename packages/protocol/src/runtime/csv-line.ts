export type CsvCell = string | bigint | number | undefined

/** A line of a CSV file (RFC 4180). A cell that a spreadsheet could take for a formula gets an apostrophe. */
export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(quoted).join(',')}\r\n`

function quoted(cell: CsvCell): string {
  if (cell === undefined) return ''
  const text = /^[=+\-@\t\r\n]/.test(`${cell}`) ? `'${cell}` : `${cell}`
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
