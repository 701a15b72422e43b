/** Money: what is owed, minted, due and spent, and each burn against its mint. */
import { el } from '../dom.js'
import { amount, column, csv, figure, hash, inEther, plural, utcOf, when } from '../format.js'
import { badge, button, facts, section, table, tile, tiles } from '../parts.js'
import type { Admin, AdminAnswers } from './api.js'
import { hoursUntil, sumOf } from './overview.js'
import type { Screen, Seen } from './screen.js'

type Minted = AdminAnswers['mints']['mints'][number]

export async function exportMints(admin: Admin): Promise<string> {
  const all: Minted[] = []
  for await (const { mints } of admin.pages('mints')) all.push(...mints)
  return csv(
    [
      'finalized_at',
      'challenge_nonce',
      'burn_transaction',
      'burned',
      'fee',
      'mint_transaction',
      'minted',
      'batch',
    ],
    all.map(({ at, challengeNonce, burn, burned, fee, transaction, minted, batch }) => [
      ...[utcOf(at), challengeNonce, burn, burned, fee, transaction, minted, `${batch}`],
    ]),
  )
}

/** Whether a mint brought what was burned. */
const match = ({ burned, minted }: Minted): HTMLElement =>
  burned === minted ? badge('ticks off', 'finalized') : badge('differs', 'warn')

function gasSpent({ status }: Seen): HTMLElement {
  const { burn, mint } = status.relayer.spent
  const wei = BigInt(burn.wei) + BigInt(mint.wei)
  return tile(
    'Gas spent',
    inEther(wei),
    `${plural(burn.transactions, 'burn')} and ${plural(mint.transactions, 'mint')} since the start`,
  )
}

function feeSection({ status: { fees }, token }: Seen): HTMLElement {
  const { due, swept, underWay, elsewhere, splitter, lastError } = fees
  return section(
    'Fees',
    facts(
      ['Mode', fees.mode],
      ['Due', el('span', {}, amount(due.amount, token), ` from ${plural(due.payments, 'payment')}`)],
      ['Under way', underWay && amount(underWay.amount, token)],
      ['Swept', el('span', {}, amount(swept.amount, token), ` in ${plural(swept.sweeps, 'sweep')}`)],
      [
        'Last sweep',
        swept.last &&
          el(
            'span',
            {},
            amount(swept.last.amount, token),
            ' ',
            when(swept.last.at),
            ' ',
            hash(swept.last.transaction),
          ),
      ],
      ['At another account', elsewhere && amount(elsewhere.amount, token)],
      ['At the splitter', splitter?.undistributed && amount(splitter.undistributed, token)],
      ['Treasury', hash(fees.treasury)],
      ['Last failure', lastError && el('span', {}, lastError.message, ' ', when(lastError.at))],
    ),
    fees.mode === 'custodial'
      ? el('div', { class: 'buttons' }, button('Sweep what is due now', 'sweep'))
      : undefined,
  )
}

export const money: Screen = {
  title: 'Money',
  asks: (_, now) => ({ mints: 'limit=100', hours: hoursUntil(now) }),
  draw(seen) {
    const { status, token, mints, hours } = seen
    const { fees } = status
    const rows = mints?.mints ?? []
    const minted = sumOf(hours?.hours ?? [])
    return [
      tiles(
        tile(
          'Owed to the provider',
          figure(status.mints.owed, token),
          plural(status.mints.awaiting, 'burn without a mint', 'burns without a mint'),
        ),
        tile('Minted in 31 days', figure(minted.finalized, token), plural(minted.mints, 'payment')),
        tile('Fees due', figure(fees.due.amount, token), plural(fees.due.payments, 'payment')),
        tile('Fees swept', figure(fees.swept.amount, token), plural(fees.swept.sweeps, 'sweep')),
        gasSpent(seen),
      ),
      section(
        'Payments against mints',
        el(
          'p',
          { class: 'quiet' },
          'Each burn and the mint that brought it to the provider, the newest first. A batch mint is one transaction for several burns.',
        ),
        table(
          'Payments against mints',
          [
            'Finalized',
            'Payment',
            `Burned${token ? `, ${token.symbol}` : ''}#`,
            'Minted#',
            'Fee in it#',
            'Burn',
            'Mint',
            'Verdict',
          ],
          rows.map((row) => ({
            key: `${row.challengeNonce} ${row.burn}`,
            cells: [
              when(row.at),
              el('a', { href: `#payments/${row.challengeNonce}` }, hash(row.challengeNonce)),
              column(row.burned, token),
              column(row.minted, token),
              row.fee === undefined ? undefined : column(row.fee, token),
              hash(row.burn),
              hash(row.transaction),
              match(row),
            ],
          })),
          'Nothing was minted yet.',
        ),
        el('div', { class: 'buttons' }, button('All as CSV', 'csv-mints')),
      ),
      feeSection(seen),
    ]
  },
}
