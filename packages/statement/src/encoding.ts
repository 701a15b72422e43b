/** Text that strangers wrote, taken strictly. */

/** Strict base64url: one text for one sequence of bytes, so that nobody can change a text and keep its meaning. */
export function bytesOf(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}

/** Undefined for anything but JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
