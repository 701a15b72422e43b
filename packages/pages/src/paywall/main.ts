/** The paywall, up to the two signatures. The page around it stands without this script, too. */
import { el, timeOf } from '../dom.js'
import { deliver } from './deliver.js'
import { findKept, forget, hold, keep, letGo } from './kept.js'
import { current, endsAtMs, isStale, money, putForward, renew, short, writeIn } from './offered.js'
import { chainOf, NoKeySignature, type PermitOffer, paymentHeader, signBurn, signPermit } from './payment.js'
import { area, type Button, quiet, show } from './view.js'
import { codeOf, findWallets, readToken, type TokenFacts, type Wallet } from './wallet.js'

const again = 'Try again'
/** Wallets announce themselves within milliseconds. */
const walletWaitMs = 600

let wallets: Wallet[] = []
let isChoosing = false
/** The first signature, kept when the second one is declined. */
let permit: { readonly of: string; readonly signature: string } | undefined

/** Choosing a wallet. */
function choose(): void {
  isChoosing = true
  const offer = current()
  const until =
    offer && quiet('This price holds until ', timeOf(endsAtMs(offer)), '. Then you get a new offer.')
  if (!offer) {
    show(0, '', 'This page cannot pay here', [
      'The seller offers no payment without gas. Pay from a terminal.',
    ])
  } else if (wallets.length > 0) {
    const text = 'It asks you to sign twice. You pay no gas, and nothing is taken before both are signed.'
    show(0, '', 'Pay with your wallet', [text, until], ...wallets.map(walletButton))
  } else {
    const text =
      'Unlock or install one, open this page in the browser of your wallet, or pay from a terminal.'
    show(0, '', 'No wallet found in this browser', [text, until], ['Look again', () => location.reload()])
  }
}

function walletButton(wallet: Wallet, index: number): Button {
  const label = document.createDocumentFragment()
  if (wallet.icon) label.append(el('img', { src: wallet.icon, alt: '' }))
  label.append(wallet.name)
  return [label, () => connect(wallet), index > 0 ? 'second' : undefined]
}

/** Runs a step of the purchase. Whatever goes wrong in it, nothing was presented yet, so nothing was paid. */
async function attempt(wallet: Wallet, step: () => Promise<void>): Promise<void> {
  isChoosing = false
  try {
    await step()
  } catch (error) {
    letGo()
    const [title, text] = wordsFor(error, wallet)
    stop(title, text, [again, () => attempt(wallet, step)])
  }
}

function wordsFor(error: unknown, { name }: Wallet): [title: string, text: string] {
  if (codeOf(error) === 4001) return ['You declined', 'Nothing left this page. Try again, or leave.']
  if (codeOf(error) === -32002) return [`${name} waits for you`, 'Answer its open question, then try again.']
  if (error instanceof NoKeySignature) {
    return ['This account cannot pay here', 'It is a contract. Choose an account with a key of its own.']
  }
  const said = (error as { message?: unknown } | undefined)?.message ?? error
  return [`${name} reports a problem`, String(said).slice(0, 300)]
}

const stop = (title: string, text: string, button: Button) =>
  show(0, 'bad', title, [text, quiet('Nothing was paid.')], button, ['Other wallet', choose, 'second'])

const connect = (wallet: Wallet): Promise<void> =>
  attempt(wallet, async () => {
    const go = (label: string): Button => [label, () => connect(wallet)]
    show(0, 'busy', `Look at ${wallet.name}`, ['It asks to show this page your account.'])
    const accounts = (await wallet.request({ method: 'eth_requestAccounts' })) as string[]
    const account = accounts[0]
    if (!account) throw Error('It shows no account.')
    if (await hold()) letGo()
    else {
      const text = 'Go on there, or close that tab.'
      return show(0, 'bad', 'Another tab is paying for this', [text], go(again))
    }
    const before = current()
    const trouble = await renew()
    if (trouble) return stop(noOffer, trouble, go(again))
    const offer = current()
    if (!before || !offer) return choose()
    const chainId = chainOf(offer)
    if (Number(await wallet.request({ method: 'eth_chainId' })) !== chainId) {
      const text = `This is paid on the network with chain id ${chainId}.`
      return stop(`${wallet.name} is on another network`, text, [
        'Switch network',
        () => switchNetwork(wallet, chainId),
      ])
    }
    const facts = await readToken(wallet, offer.asset, account)
    if (!facts.name) throw Error(`On its network is no token ${offer.asset}.`)
    writeIn(facts)
    if (offer.amount !== before.amount) {
      return stop('The price has changed', `It is ${money(offer.amount)} now.`, go('Go on'))
    }
    const missing = BigInt(offer.amount) - facts.balance
    if (missing > 0n) {
      const text = `This account has ${money(facts.balance)}; ${money(missing)} are missing. Send them to ${account}, or choose another account.`
      return stop('Not enough tokens', text, go('Check again'))
    }
    askToSign(wallet, account, offer, facts)
  })

const switchNetwork = (wallet: Wallet, chainId: number): Promise<void> =>
  attempt(wallet, async () => {
    const params = [{ chainId: `0x${chainId.toString(16)}` }]
    try {
      await wallet.request({ method: 'wallet_switchEthereumChain', params })
    } catch (error) {
      if (codeOf(error) !== 4902) throw error
      const text = `Add the network with chain id ${chainId} in the settings of ${wallet.name}.`
      return stop('Unknown network', text, [again, () => switchNetwork(wallet, chainId)])
    }
    await connect(wallet)
  })

function askToSign(wallet: Wallet, account: string, offer: PermitOffer, facts: TokenFacts): void {
  const { helper, deadline } = offer.extra
  const price = money(offer.amount)
  const ask = (name: string, ...words: (Node | string)[]) => el('li', {}, el('b', {}, name), ...words)
  show(
    1,
    '',
    'You will sign two things',
    [
      el(
        'ol',
        { class: 'asks' },
        ask(
          'Permit: ',
          'the burner contract ',
          short(helper),
          ` may take exactly ${price}, until `,
          timeOf(1000 * deadline),
          '.',
        ),
        ask(
          'Burn authorization: ',
          'it may send them to the one-time address ',
          short(offer.payTo),
          ', and nowhere else.',
        ),
      ),
      quiet(
        'From ',
        short(account),
        `, which has ${money(facts.balance)}. What is burned cannot be taken back.`,
      ),
    ],
    [`Sign and pay ${price}`, () => attempt(wallet, () => sign(wallet, account, offer, facts))],
    ['Other wallet', choose, 'second'],
  )
}

async function sign(wallet: Wallet, account: string, offer: PermitOffer, facts: TokenFacts): Promise<void> {
  if (isStale(offer) || !(await hold())) return connect(wallet)
  const look = (which: number, what: string) =>
    show(1, 'busy', `Signature ${which} of 2`, [`${wallet.name} shows a ${what} of ${money(offer.amount)}.`])
  const of = [offer.extra.challengeNonce, account, facts.nonce].join()
  if (permit?.of !== of) {
    look(1, 'Permit')
    permit = { of, signature: await signPermit(wallet, account, offer, facts) }
  }
  look(2, 'BurnAuthorization')
  const burn = await signBurn(wallet, account, offer)
  const kept = { header: paymentHeader(offer, account, facts.nonce, permit.signature, burn) }
  keep(kept)
  // One offer, one payment.
  putForward(undefined)
  await deliver({ kept, wallet, startOver })
}

const noOffer = 'There is no new offer right now'

async function startOver(): Promise<void> {
  forget()
  const trouble = await renew()
  if (trouble) show(0, 'bad', noOffer, [trouble], [again, startOver])
  else choose()
}

const command = document.querySelector('pre')
// The server may stand behind a proxy and not know its own address.
if (command) {
  const text = `svc-pay pay '${location.href.replace(/'/g, '%27')}'`
  command.textContent = text
  // Browsers have a clipboard only where nobody can read along.
  const { clipboard } = navigator
  if (clipboard) {
    const button = el('button', { class: 'second', click: copy }, 'Copy')
    const tell = () => button.replaceChildren('Copied')
    function copy() {
      clipboard.writeText(text).then(tell)
    }
    command.after(button)
  }
}
findWallets((found) => {
  wallets = found
  if (isChoosing) choose()
}, walletWaitMs)
// A page that the browser kept whole does not know what was paid since.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload())
const kept = findKept()
// A page without an offer says so by itself, and has this script for a payment that is kept.
if (kept) void deliver({ kept, startOver })
else if (area.dataset.required) setTimeout(choose, wallets.length > 0 ? 0 : walletWaitMs)
