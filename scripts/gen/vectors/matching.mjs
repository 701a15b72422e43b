import { Offer } from '@svc-zerc20/protocol'
import { addressOf, offer } from '../example.mjs'
import { expectSame, vectorFile } from './vector-file.mjs'

const description =
  'The matching rule. "own" is what the seller offered, "echoed" is `accepted` of the payment. They match when every field but `extra` is deep-equal, unknown fields included, and every field of the seller\'s `extra`, at every depth of objects, stands in the echoed `extra` with an equal value. Key order never matters, order of array items does.'

const { extra, ...core } = offer
const withExtra = (fields) => ({ ...offer, extra: { ...extra, ...fields } })
const without = (object, key) => Object.fromEntries(Object.entries(object).filter(([name]) => name !== key))
const reversed = (object) => Object.fromEntries(Object.entries(object).reverse())

const described = {
  ...offer,
  description: 'Market report',
  outputSchema: { fields: ['a', 'b'], strict: true },
}
const withFee = withExtra({ fee: { amount: '100', bps: 100 } })

const cases = [
  ['verbatim', offer, offer, true],
  ['another key order', offer, reversed({ ...core, extra: reversed(extra) }), true],
  ['a field added to extra', offer, withExtra({ note: 'thanks' }), true],
  [
    'a field added inside an object of extra',
    withFee,
    withExtra({ fee: { amount: '100', bps: 100, note: '' } }),
    true,
  ],
  [
    'an unknown field of the seller, echoed',
    { ...offer, region: ['eu', 'us'] },
    { ...offer, region: ['eu', 'us'] },
    true,
  ],
  ['optional fields of the seller, echoed', described, described, true],
  ['a seller without extra', core, offer, true],
  ['nothing', offer, null, false],
  ['a list', offer, [offer], false],
  ['text', offer, JSON.stringify(offer), false],
  ['extra dropped', offer, core, false],
  ['a field added to the core', offer, { ...offer, region: 'eu' }, false],
  ['an unknown field of the seller, dropped', { ...offer, region: 'eu' }, offer, false],
  ['a description dropped', described, without(described, 'description'), false],
  ['a description set to null', described, { ...described, description: null }, false],
  [
    'items of an array in another order',
    described,
    { ...described, outputSchema: { fields: ['b', 'a'], strict: true } },
    false,
  ],
  [
    'a field added inside an object of the core',
    described,
    { ...described, outputSchema: { ...described.outputSchema, more: 1 } },
    false,
  ],
  ['another payTo', offer, { ...offer, payTo: addressOf('thief') }, false],
  ['payTo in another case', offer, { ...offer, payTo: `0x${offer.payTo.slice(2).toUpperCase()}` }, false],
  ['a lower amount', offer, { ...offer, amount: '1' }, false],
  ['the amount as a number', offer, { ...offer, amount: 10000 }, false],
  ['another asset', offer, { ...offer, asset: addressOf('other token') }, false],
  ['another network', offer, { ...offer, network: 'eip155:1' }, false],
  ['another scheme', offer, { ...offer, scheme: 'exact' }, false],
  ['another maxTimeoutSeconds', offer, { ...offer, maxTimeoutSeconds: 301 }, false],
  ['another challengeNonce', offer, withExtra({ challengeNonce: `0x${'00'.repeat(32)}` }), false],
  ['another helper', offer, withExtra({ helper: addressOf('other helper') }), false],
  ['a later deadline', offer, withExtra({ deadline: extra.deadline + 1 }), false],
  ['expiresAt dropped', offer, { ...offer, extra: without(extra, 'expiresAt') }, false],
  ['a lower fee', withFee, withExtra({ fee: { amount: '1', bps: 100 } }), false],
  ['a fee dropped', withFee, offer, false],
].map(([name, own, echoed, matches]) => ({ name, own, echoed, matches }))

/** test/vectors/protocol/matching.json */
export function renderMatching() {
  for (const { name, own, echoed, matches } of cases) expectSame(name, Offer.matches(echoed, own), matches)
  return vectorFile(description, { cases })
}
