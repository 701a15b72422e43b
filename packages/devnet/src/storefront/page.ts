/** The storefront's page, and what is added to pages of the shop. Everything in them is text of this tree. */
import { createHash } from 'node:crypto'
import { inTokens } from '@svc-zerc20/protocol'
import { addedStyle, script, style } from '#storefront'
import { devnetToken } from '../deploy/deployment.js'
import { shopRoutes } from '../network/network-file.js'

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    `script-src ${hashOf(script)}`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join(';'),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

const price = ({ price }: { readonly price: string }) => inTokens(BigInt(price), devnetToken)

export const storefrontPage = (hasHistory: boolean) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Thoughts for sale</title>
<style>${style}</style>
<script>${script}</script>
<main class="page">
<header>
<p class="devnet-mark">A network on this machine · test money · public keys</p>
<h1>Thoughts for sale</h1>
<p class="lead">Pay with the development wallet that is built into these pages. You pay no gas. The seller is paid by a proof, which names no payer.</p>
</header>
<section class="goods" aria-label="For sale">
<article>
<div><h2>A thought</h2><p class="price">${price(shopRoutes.cheap)}</p></div>
<a class="button" href="${shopRoutes.cheap.path}">Buy a thought</a>
</article>
<article>
<div><h2>A well considered thought</h2><p class="price">${price(shopRoutes.dear)}</p></div>
<a class="button" href="${shopRoutes.dear.path}">Buy a well considered one</a>
</article>
</section>
<section class="devnet" id="newest" aria-labelledby="way">
<h2 id="way">The newest payment on its way</h2>
<noscript>The picture needs JavaScript.</noscript>
</section>
<section class="doors" aria-label="Behind the shop">
<article>
<div><h2>As the operator</h2><p class="quiet">What was earned, what waits and why, whether the gas lasts. You are signed in already.</p></div>
<a class="button second" href="/dashboard/">Open the dashboard</a>
</article>${hasHistory ? historyDoor : ''}
</section>
<footer class="quiet">
<p>Private? Not these few: alone on their chain and with amounts of their own, anybody can pair a burn and the mint that paid it out. A payment hides among others of the same amount, and a batch hides many in one sum.</p>
</footer>
</main>
</html>`

const historyDoor = `
<article>
<div><h2>As payer or seller</h2><p class="quiet">What you paid or got, month by month, with statements that anybody can check. Log in with the wallet of either.</p></div>
<a class="button second" href="/dashboard/history/">Open the history</a>
</article>`

/** What is added to pages that take scripts and styles from their own origin. */
export const added = {
  '/devnet/added.js': { type: 'text/javascript; charset=utf-8', text: script },
  '/devnet/added.css': { type: 'text/css; charset=utf-8', text: addedStyle },
}

/** A page of the facilitator with the development wallets in it. */
export const withWallets = (html: string): string =>
  html.replace(
    '</head>',
    '<link rel="stylesheet" href="/devnet/added.css"><script src="/devnet/added.js"></script></head>',
  )

/** A page of the shop with the development wallet in it. Its policy is extended by what was added, and by nothing else. */
export function withWallet(html: string, policy: string): { readonly html: string; readonly policy: string } {
  const extended = (text: string) =>
    text
      .replace('style-src ', `style-src ${hashOf(addedStyle)} `)
      .replace('script-src ', `script-src ${hashOf(script)} `)
  return {
    html: extended(html).replace(
      '<main>',
      () => `<style>${addedStyle}</style><script>${script}</script>${strip}<main>`,
    ),
    policy: extended(policy),
  }
}

const strip =
  '<nav class="devnet-strip" aria-label="Devnet"><a href="/">← Back to the shop</a><span class="devnet-mark">A network on this machine · test money</span></nav>'
