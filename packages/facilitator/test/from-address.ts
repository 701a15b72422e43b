/** Callers of other addresses than ours: all of 127.0.0.0/8 is this machine. */
import { request } from 'node:http'

export type AnswerFrom = { readonly status: number; readonly body: Record<string, unknown> }

export function postFrom(
  localAddress: string,
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<AnswerFrom> {
  return new Promise((resolve, reject) => {
    const asking = request(
      url,
      {
        method: 'POST',
        localAddress,
        agent: false,
        headers: { 'content-type': 'application/json', ...headers },
      },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => {
          text += chunk
        })
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) as Record<string, unknown> }),
        )
      },
    )
    asking.on('error', reject)
    asking.end(JSON.stringify(body))
  })
}
