/**
 * Undefined for a text that is no URL. `URL.canParse` is not used: once it is called often, Node 20 answers false for
 * every URL with a letter such as ü or é.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
