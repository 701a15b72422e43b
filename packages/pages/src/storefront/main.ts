/**
 * What the devnet adds to pages in a browser: the development wallet everywhere, the picture of a payment (in the storefront
 * the newest one, under a paywall the one that was signed there), and the operator's token in the dashboard.
 */
import { el } from '../dom.js'
import { openPicture } from './follow.js'
import type { Journey } from './journey.js'
import { announceWallet, type TypedData } from './wallet.js'

const signedHere = `svc-devnet ${location.pathname}`

async function read(path: string): Promise<Journey | undefined> {
  const response = await fetch(path)
  return response.status === 200 ? ((await response.json()) as Journey) : undefined
}

/** The picture of the payment that was signed on this page. */
let isShown = false
function followHere(nonce: string): void {
  if (isShown) return
  isShown = true
  const heading = el('h2', { id: 'way' }, 'The way of your payment')
  const aside = el('aside', { class: 'devnet', 'aria-labelledby': 'way' }, heading)
  // The picture may begin below the window's edge, where nobody would look for it. Its link covers nothing of the page.
  document
    .getElementById('pay')
    ?.after(
      el(
        'nav',
        { class: 'devnet-hint', 'aria-label': 'Your payment' },
        el('a', { class: 'button', href: '#way' }, 'Watch your payment on its way ↓'),
      ),
    )
  document.body.append(aside)
  openPicture(aside)(() => read(`/devnet/payments/${sessionStorage.getItem(signedHere) ?? nonce}`))
}

const walletName = 'Development wallet'
if (location.pathname.startsWith('/dashboard/')) {
  announceWallet(`${walletName} of the payer`, 'payer', () => {})
  announceWallet(`${walletName} of the seller`, 'provider', () => {})
  addEventListener('pageshow', signIn)
} else announceWallet(walletName, 'payer', noteBurn)

function noteBurn({ primaryType, message }: TypedData): void {
  if (primaryType !== 'BurnAuthorization') return
  const nonce = String(message.challengeNonce)
  sessionStorage.setItem(signedHere, nonce)
  followHere(nonce)
}

/** The operator of a devnet sits at the machine, so nobody has to type the token of its dashboard. */
async function signIn(): Promise<void> {
  const field = document.querySelector<HTMLInputElement>('form input[name=token]')
  if (!field) return
  const { token } = (await (await fetch('/devnet/operator')).json()) as { token: string }
  field.value = token
  field.form?.requestSubmit()
}

addEventListener('DOMContentLoaded', () => {
  const newest = document.getElementById('newest')
  if (newest) openPicture(newest)(() => read('/devnet/payments/newest'))
  const signed = sessionStorage.getItem(signedHere)
  if (!newest && signed) followHere(signed)
})
