/** Health: every part that a payment needs, and what it says. */
import { el } from '../dom.js'
import { hash, inEther, inNumber, plural, span, when } from '../format.js'
import { badge, type Part, section, table } from '../parts.js'
import type { Status } from './api.js'
import { daysText, gasLeft, paceText } from './gas.js'
import type { Screen, Seen } from './screen.js'

type Line = readonly [name: string, level: 'good' | 'warn' | 'bad' | 'off', says: Part]

const names = { good: 'ok', warn: 'check', bad: 'broken', off: 'off' }
const sizes: readonly [number, string][] = [
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
]
function inBytes(bytes: number): string {
  const [size, name] = sizes.find(([each]) => bytes >= each * 10) ?? [1, 'bytes']
  return `${inNumber(Math.round(bytes / size))} ${name}`
}

function chainLine({ chain }: Status): Line {
  if (!chain.reachable) return ['Chain', 'bad', 'out of reach']
  const skew = chain.clockSkewSeconds ?? 0
  const says = `block ${inNumber(BigInt(chain.head ?? '0'))}, answers in ${chain.roundTripMs} ms, clocks differ by ${Math.abs(skew)} s`
  return ['Chain', Math.abs(skew) > 10 ? 'warn' : 'good', says]
}

function indexerLine({ indexer, status }: Seen): Line {
  if (!indexer || indexer.off !== undefined) return ['Indexer', 'off', indexer?.off ?? 'not asked']
  if (!indexer.reachable || indexer.problem) return ['Indexer', 'bad', indexer.problem ?? 'out of reach']
  const unproved = Math.max(0, (indexer.leaves ?? 0) - (indexer.proved ?? 0))
  const behind = Math.max(0, Number(status.chain.head ?? 0) - (indexer.block ?? 0))
  const says = `${plural(behind, 'block')} behind the chain, ${plural(unproved, 'transfer')} of ${inNumber(indexer.leaves ?? 0)} without a proved root`
  return ['Indexer', behind > 50 ? 'warn' : 'good', says]
}

function proverLine({ mints, now }: Status): Line {
  if (mints.off !== undefined) return ['Prover', 'off', mints.off]
  const { proving = 0, queued = 0, unavailable = 0 } = mints.reasons
  const decider =
    mints.decider && `, the decider is asked since ${span(Math.max(0, now - mints.decider.since))}`
  return [
    'Prover',
    unavailable > 0 ? 'bad' : 'good',
    `${proving} being proved, ${queued} queued${decider ?? ''}`,
  ]
}

function journalLine({ journal, daemons: others }: Status): Line {
  if (!journal) return ['Database', 'off', 'settlement.journal is "none": nothing outlives a restart']
  const { failed, lost, records, bytes, freeBytes } = journal
  const disk = freeBytes === undefined ? 'free disk unknown' : `${inBytes(freeBytes)} free`
  const where = others ? 'in a database that daemons share' : `journal of ${inBytes(bytes)}, ${disk}`
  const says = `${inNumber(records)} events, ${where}`
  return [
    'Database',
    failed || lost ? 'bad' : freeBytes !== undefined && freeBytes < 1e9 ? 'warn' : 'good',
    failed ? 'the disk refuses writes' : says,
  ]
}

function lines(seen: Seen): Line[] {
  const { status } = seen
  const { addresses, challenges, history } = status
  return [
    [
      'Payments',
      status.ready ? 'good' : 'bad',
      status.ready
        ? 'can be taken'
        : status.problems.map(({ part, problem }) => `${part}: ${problem}`).join('; '),
    ],
    [
      'Issuance',
      status.issuance === 'open' ? 'good' : 'warn',
      `${status.issuance}; ${inNumber(challenges.open)} of ${inNumber(challenges.max)} open challenges`,
    ],
    chainLine(status),
    journalLine(status),
    indexerLine(seen),
    proverLine(status),
    [
      'Pool of addresses',
      addresses.ready === 0 ? 'bad' : addresses.ready * 4 < addresses.target ? 'warn' : 'good',
      `${inNumber(addresses.ready)} of ${inNumber(addresses.target)} ready`,
    ],
    [
      'Payment history',
      history ? (history.failed ? 'bad' : 'good') : 'off',
      history ? `${plural(history.records, 'record')}, ${inBytes(history.bytes)}` : 'not configured',
    ],
    [
      'Daemon',
      status.daemons?.some(({ alive }) => !alive) ? 'warn' : 'good',
      `${status.daemons ? `${plural(status.daemons.filter(({ alive }) => alive).length, 'daemon')} on one database, ` : ''}this one: ${status.network}, version ${status.version}, profile ${status.profile}, up for ${span(Math.max(1, status.now - status.startedAt))}`,
    ],
  ]
}

/** What the holder of a lease does alone. */
const leaseWords = (name: string): Part[] => {
  const [, account] = /^send (.*)$/.exec(name) ?? []
  return account === undefined
    ? [name === 'work' ? 'follows the token, mints' : name]
    : ['sends from ', hash(account)]
}

/** Daemons that share a database, and which of them sends. */
function daemons({ status: { daemons: all, leases = [] } }: Seen): Part {
  const duties = (of: string | undefined) =>
    leases
      .filter(({ holder }) => holder === of)
      .map(({ name, term }) => el('li', { title: `${name}, term ${term}` }, ...leaseWords(name)))
  const unheld = duties(undefined)
  return (
    all &&
    section(
      'Daemons',
      table(
        'Daemons on this database',
        ['Daemon', 'State', 'Last heard', 'Does alone'],
        all.map(({ name, here, alive, silentSeconds }) => ({
          key: name,
          cells: [
            here ? `${name}, which answers here` : name,
            badge(alive ? 'alive' : 'silent', alive ? 'good' : 'bad'),
            `${span(silentSeconds)} ago`,
            duties(name).length > 0 ? el('ul', { class: 'plain' }, ...duties(name)) : undefined,
          ],
        })),
        'None.',
      ),
      unheld.length > 0
        ? el('div', { class: 'note bad' }, 'Nobody does this:', el('ul', {}, ...unheld))
        : undefined,
      el(
        'p',
        { class: 'quiet' },
        'Elsewhere on these pages gas spent and the reason of a wait are those that the daemon which answers has seen since it started.',
      ),
    )
  )
}

function accounts({ status }: Seen): HTMLElement {
  return section(
    'Gas and transactions',
    table(
      'Accounts',
      ['Account', 'Address', 'Lasts', 'Balance and pace'],
      gasLeft(status).map((gas) => ({
        key: gas.address,
        cells: [gas.name.replace(/,$/, ''), hash(gas.address), daysText(gas), paceText(gas)],
      })),
      'None.',
    ),
    el(
      'p',
      { class: 'quiet' },
      `Paid for gas since the start: ${inEther(BigInt(status.relayer.spent.burn.wei))} for burns, ${inEther(BigInt(status.relayer.spent.mint.wei))} for mints.`,
    ),
    el('h3', {}, 'In flight'),
    table(
      'Transactions in flight',
      ['For', 'Nonce#', 'Signed', 'Versions#', 'Transaction'],
      status.queue.map(({ txNonce, purpose, txHash, versions, signedAt, unfunded }) => ({
        key: txHash,
        cells: [
          unfunded ? badge(`${purpose}, unfunded`, 'bad') : purpose,
          `${txNonce}`,
          when(signedAt),
          `${versions}`,
          hash(txHash),
        ],
      })),
      'No transaction is in flight.',
    ),
  )
}

export const health: Screen = {
  title: 'Health',
  asks: () => ({ indexer: '' }),
  draw: (seen) => [
    section(
      'Parts',
      table(
        'Parts of the facilitator',
        ['Part', 'State', 'Detail'],
        lines(seen).map(([name, level, says]) => ({
          key: name,
          cells: [el('strong', {}, name), badge(names[level], level), says],
        })),
        '',
      ),
    ),
    daemons(seen),
    accounts(seen),
  ],
}
