/** The text of an answer, at most so many bytes of it. A longer answer is cut off and thrown away. */
export async function readBounded(
  response: Response,
  bytesMax: number,
  tooMuch: () => Error,
): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > bytesMax) throw tooMuch()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
