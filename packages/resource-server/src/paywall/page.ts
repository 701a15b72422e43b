/**
 * Pages for people who open a paid route in a browser. A page carries its style and script in itself and loads nothing.
 * Its policy names both by their hashes, so nothing that somebody else wrote into it could ever run.
 */
import { createHash } from 'node:crypto'
import {
  Headers,
  inTokens,
  Json,
  Network,
  Offer,
  parseAmount,
  parseUrl,
  type TokenLabel,
} from '@svc-zerc20/protocol'
import { script, style } from '#paywall'
import type { Explanation } from '../refusal.js'
import { accentStyle, assertLook, type PaywallLook } from './look.js'

export type Page = { readonly html: string; readonly headers: Record<string, string> }

export type Paywall = {
  /** The page of a 402, from its PAYMENT-REQUIRED. */
  offer(required: Json.JsonObject): Page
  /** The page of an answer without an offer. */
  refusal(explanation: Explanation): Page
}

/** `tokenLabel` has what the token says of itself, once it is known. What the seller says goes before. */
export function createPaywall(
  look: PaywallLook = {},
  tokenLabel: () => TokenLabel | undefined = () => undefined,
): Paywall {
  assertLook(look)
  const styles = style + accentStyle(look.accent)
  const policy = policyFor(styles)
  const pageOf = (title: string, body: Markup): Page => {
    const html = markup`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="content-security-policy" content="${trusted(policy)}">
<title>${title}</title>
<style>${trusted(styles)}</style>
<main>
${body}</main>
<script>${trusted(script)}</script>
</html>`
    return {
      html: html.text,
      headers: { ...headers, 'content-security-policy': `${policy};frame-ancestors 'none'` },
    }
  }
  return {
    offer: (required) => {
      const told = { token: tokenLabel(), ...look }
      const facts = factsOf(required, told)
      return pageOf(facts.what, offerBody(facts, told))
    },
    refusal: (explanation) => pageOf('Not available right now', refusalBody(look, explanation)),
  }
}

/** Lower case, because frameworks of the web standard merge names and express would send both spellings. */
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
}

const policyFor = (styles: string) =>
  [
    "default-src 'none'",
    `style-src '${hashOf(styles)}'`,
    `script-src '${hashOf(script)}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join(';')

const hashOf = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`

type Told = Omit<PaywallLook, 'token'> & { readonly token?: TokenLabel | undefined }

type Facts = {
  readonly what: string
  readonly price: string
  readonly where: string
  readonly url: string
  /** What the script needs of PAYMENT-REQUIRED, in the same form. */
  readonly required: string
}

function factsOf({ accepts, resource }: Json.JsonObject, { token }: Told): Facts {
  const entries = Array.isArray(accepts) ? accepts.filter(Json.isObject) : []
  const ours = entries.filter(({ scheme }) => scheme === Offer.scheme)
  const { amount, network } = ours[0] ?? {}
  const units = parseAmount(amount)
  const { url, description } = Json.isObject(resource) ? resource : {}
  return {
    required: Headers.encode({ accepts: ours }),
    what: typeof description === 'string' && description !== '' ? description : 'This page is for sale',
    price: (token && units && inTokens(units, token)) ?? `${amount} base units`,
    where: networkName(String(network)),
    url: parseUrl(String(url))?.href.replaceAll("'", '%27') ?? 'URL',
  }
}

const names: Record<number, string> = {
  1: 'Ethereum',
  10: 'OP Mainnet',
  137: 'Polygon',
  8453: 'Base',
  31337: 'a local devnet',
  42161: 'Arbitrum One',
  84532: 'Base Sepolia',
  11155111: 'Sepolia',
}

const networkName = (network: string) => names[Network.parseChainId(network) ?? 0] ?? network

const sellerOf = ({ name, logo }: Pick<PaywallLook, 'name' | 'logo'>): Markup | string =>
  name || logo
    ? markup`<p class="seller">${logo ? markup`<img src="${logo}" alt="">` : ''}${name ?? ''}</p>`
    : ''

function offerBody({ what, price, where, url, required }: Facts, look: Told): Markup {
  return markup`<header>
${sellerOf(look)}
<h1>${what}</h1>
<p class="price"><b id="price">${price}</b> <span class="quiet">once, on ${where}</span></p>
</header>
<section id="pay" aria-live="polite" aria-label="Payment" data-required="${required}" data-symbol="${look.token?.symbol ?? ''}" data-decimals="${`${look.token?.decimals ?? ''}`}">
<noscript><h2>Pay from a terminal</h2><p>Without JavaScript no wallet can be reached. The command below pays with a key of yours.</p></noscript>
</section>
<section class="notes">
<h2>Who will know what</h2>
<ul>
<li><b>Everybody</b> sees on the chain that your account burns this amount now, and who relays it, which mostly tells whom you pay: not what you buy.</li>
<li><b>The seller</b> sees what you buy, and your account.</li>
<li><b>The facilitator</b>, which relays the burn, sees your account and who is paid: not what you buy.</li>
</ul>
<h2>From a terminal</h2>
<pre tabindex="0">svc-pay pay '${url}'</pre>
</section>
`
}

/** A payment that is kept in the tab is presented from here, too. */
const refusalBody = (look: PaywallLook, { error, action }: Explanation) => markup`<header>
${sellerOf(look)}
<h1>Not available right now</h1>
</header>
<section id="pay">
<p>This resource is sold, and there is no offer for you at the moment. Try again soon. What you have paid before is not lost.</p>
<p class="row"><a class="button" href="">Try again</a></p>
<p class="quiet">The server says: ${error}<br>${action}</p>
</section>
`

/** Text that is markup. Only `markup` and `trusted` make it; every other text is escaped. */
type Markup = { readonly text: string }

const trusted = (text: string): Markup => ({ text })

function markup(parts: TemplateStringsArray, ...values: (string | Markup)[]): Markup {
  const text = (value: string | Markup | undefined) =>
    typeof value === 'object' ? value.text : escaped(value ?? '')
  return { text: parts.map((part, i) => part + text(values[i])).join('') }
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (char) => entities[char] ?? char)
