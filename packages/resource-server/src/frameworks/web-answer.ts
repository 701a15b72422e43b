/** Answers as `Response`, for the frameworks whose handlers return one. */
import type { Answer } from '../gate/answer.js'
import type { Admission } from '../gate/gate.js'
import type { ServedAnswer } from '../served/served.js'
import { visits } from '../visits/visit.js'

export const refusalToResponse = ({ status, headers, body }: Answer): Response =>
  new Response(typeof body === 'object' ? JSON.stringify(body) : body, { status, headers })

/** `Response` takes no body for some statuses, not even an empty one. */
export const keptToResponse = ({ status, headers, body }: ServedAnswer): Response =>
  new Response(body.length === 0 ? null : new Uint8Array(body), {
    status,
    headers: headers.map(([name, value]): [string, string] => [name, String(value)]),
  })

/** Runs the official middleware, and keeps the answer to an accepted payment before it goes out. */
export async function serve(
  { visit, presentation }: Extract<Admission, { visit: unknown }>,
  gone: AbortSignal | undefined,
  official: () => Promise<Response>,
): Promise<Response> {
  let answer: ServedAnswer | undefined
  const abandon = () => presentation.abandon(() => visit.isAccepted === true)
  if (gone?.aborted) abandon()
  gone?.addEventListener('abort', abandon, { once: true })
  try {
    const response = await visits.run(visit, official)
    if (visit.isAccepted) {
      const body = new Uint8Array(await response.clone().arrayBuffer())
      answer = { status: response.status, headers: [...response.headers], body }
    }
    return response
  } finally {
    gone?.removeEventListener('abort', abandon)
    await presentation.end(answer)
  }
}
