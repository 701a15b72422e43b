import { Headers } from '@svc-zerc20/protocol'
import {
  paymentOf,
  paymentRequired,
  permitPayload,
  selfTransferPayload,
  settleResponse,
} from '../example.mjs'
import { expectSame, vectorFile } from './vector-file.mjs'

const description =
  'Headers are base64 of UTF-8 JSON. In "accepted", "header" is exactly the base64 (standard alphabet, padded) of the UTF-8 bytes of "text", and decodes to the JSON value that "text" spells; "name" of the first ones is the header they belong to. Every header of "refused" must be refused without failing. Missing padding is tolerated.'

const texts = [
  [`${Headers.paymentRequired}: the 402 offer`, JSON.stringify(paymentRequired)],
  [`${Headers.paymentSignature}: gasless permit`, JSON.stringify(paymentOf(permitPayload))],
  [`${Headers.paymentSignature}: self-transfer`, JSON.stringify(paymentOf(selfTransferPayload))],
  [`${Headers.paymentResponse}: accepted`, JSON.stringify(settleResponse)],
  ['an empty object', '{}'],
  ['letters beyond ASCII', '{"description":"Börsenbericht – 市場レポート"}'],
  ['a character outside the basic plane', '{"description":"🧾"}'],
  ['an escaped lone surrogate', '{"description":"\\ud83e"}'],
  ['escapes of JSON', '{"description":"\\"\\\\\\n\\u0000"}'],
  ['keys that are no keys to trust', '{"__proto__":{"amount":"1"},"constructor":{"prototype":null}}'],
  ['whitespace between tokens', '{ "x402Version" : 2 }'],
]

const base64 = (...bytes) => Buffer.from(bytes).toString('base64')

const refused = [
  ['nothing', ''],
  ['a character outside base64', 'e30!'],
  ['the URL-safe alphabet', '-_8='],
  ['half the padding', 'ew='],
  ['padding in the middle', 'e30=e30='],
  ['one character too many', 'e30=e'],
  ['only padding', '===='],
  ['a lone continuation byte', base64(0x22, 0x80, 0x22)],
  ['an overlong encoding', base64(0x22, 0xc0, 0xaf, 0x22)],
  ['an encoded surrogate', base64(0x22, 0xed, 0xa0, 0x80, 0x22)],
  ['no JSON', Buffer.from('not json').toString('base64')],
  ['cut-off JSON', Buffer.from('{"x402Version":2').toString('base64')],
  ['a JSON value and more', Buffer.from('{}{}').toString('base64')],
  ['65 nested arrays', Buffer.from('['.repeat(65) + ']'.repeat(65)).toString('base64')],
].map(([name, header]) => ({ name, header }))

/** test/vectors/protocol/headers.json */
export function renderHeaders() {
  const accepted = texts.map(([name, text]) => {
    const header = Buffer.from(text).toString('base64')
    expectSame(name, Headers.decode(header), { ok: true, value: JSON.parse(text) })
    return { name, text, header }
  })
  for (const { name, header } of refused) expectSame(name, Headers.decode(header).reason, 'malformed_request')
  return vectorFile(description, { headerCharsMax: Headers.headerCharsMax, accepted, refused })
}
