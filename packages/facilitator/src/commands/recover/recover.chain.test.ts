import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { developmentRoles } from '@svc-zerc20/devnet'
import { parse, stringify } from 'smol-toml'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lightArtifacts } from '../../../../../test/support/light-artifacts.js'
import { until } from '../../../../../test/support/until.js'
import { runCommand, startCommand } from '../../../test/command.js'
import { copyLedger } from '../../../test/ledger-files.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { startOwnFacilitator } from '../../../test/own-facilitator.js'
import type { ChallengeOffer } from '../../../test/payment.js'
import { backUp } from '../../store/backup.js'

const { treasury, relayer, provider } = developmentRoles
const env = { SVC_TREASURY_PK: treasury.privateKey, SVC_RELAYER_PK: relayer.privateKey }

let net: TestNetwork
let artifacts: string
let first: ChallengeOffer
let second: ChallengeOffer
let late: ChallengeOffer
let open: ChallengeOffer
/** A facilitator that accepts payments and does not mint. An indexer proves the roots. */
beforeAll(async () => {
  artifacts = await lightArtifacts()
  net = await startNetwork({
    finalization: true,
    config: { zerc20: { artifacts: undefined }, settlement: { reorg_watch_blocks: 0 } },
  })
  const payer = await net.account({ gas: true })
  first = await acceptedPayment(payer, '1000')
  second = await acceptedPayment(payer, '400')
  net.clock.advance(-hourMs)
  late = await net.challenge('2000')
  // Open for as long as this file may take.
  net.clock.advance(2 * hourMs)
  open = await net.challenge('3000')
  net.clock.advance(-hourMs)
  backUp(pathOf('journal.jsonl'), pathOf('backup.jsonl.db'))
  await net.transfer(payer, late.payTo, '2100')
  await net.transfer(payer, open.payTo, '3000')
  copyLedger(pathOf('journal.jsonl'), pathOf('kept.jsonl'))
})
afterAll(() => net.close())

const hourMs = 3_600_000
const pathOf = (name: string) => join(net.directory, name)

type Tables = Record<string, Record<string, unknown> | string>

/** Writes the network's configuration with another journal and with proving keys. */
function writeConfig(journal: string, change: (tables: Tables) => Tables = (tables) => tables): string {
  const tables = parse(readFileSync(net.configFile, 'utf8')) as Tables
  const at = (table: string) => tables[table] as Record<string, unknown>
  const changed = change({
    ...tables,
    settlement: { ...at('settlement'), journal: pathOf(journal) },
    zerc20: { ...at('zerc20'), artifacts },
  })
  const file = pathOf(`${journal}.toml`)
  writeFileSync(file, stringify(changed))
  return file
}

async function recover(config: string, ...args: string[]) {
  const ended = await runCommand(['recover', '--config', config, '--json', ...args], env)
  return { ...ended, report: ended.stdout === '' ? undefined : JSON.parse(ended.stdout) }
}

type Recorded = { phase: string; mint?: object; late?: { mint?: object } }

/** Starts the daemon on a journal until these payments are minted, and tells the phase of the one that is open. */
async function mint(journal: string, ...offers: readonly ChallengeOffer[]): Promise<unknown> {
  const own = await startOwnFacilitator(net, {
    journal,
    config: {
      zerc20: { artifacts },
      finalize: { delay_max_ms: 0 },
      daemon: { finalize_interval_ms: 1_000, follow_interval_ms: 1_000 },
    },
  })
  const paymentOf = async ({ challengeNonce }: ChallengeOffer) =>
    (await own.admin(`/payments/${challengeNonce}`)).payment as Recorded | undefined
  try {
    for (const offer of offers) {
      await until(async () => {
        const payment = await paymentOf(offer)
        return payment?.mint ?? payment?.late?.mint
      })
    }
    return (await paymentOf(open))?.phase
  } finally {
    await own.close()
  }
}

async function acceptedPayment(payer: PrivateKeyAccount, amount: string) {
  const { offer, body } = await net.permitPayment(payer, amount)
  expect((await net.settle(body)).body.success).toBe(true)
  return offer
}

const balanceOfProvider = () => net.balanceOf(provider.address)

describe('svc-facilitator recover', () => {
  it('refuses with 75 while a daemon has the journal, and says who', async () => {
    const { code, stderr } = await recover(writeConfig('journal.jsonl'))
    expect(stderr).toMatch(
      /^fail settlement\.journal: .* is in use by another daemon \(process \d+\): stop it first\n$/,
    )
    expect(code).toBe(75)
  })

  it('fault 41: finds burns to addresses that were mined with another proof of work than today’s', async () => {
    const harder = writeConfig('harder.jsonl', (tables) => {
      const zerc20 = tables.zerc20 as { pow_bits: number }
      return { ...tables, zerc20: { ...zerc20, pow_bits: zerc20.pow_bits + 2 } }
    })
    expect(await recover(harder)).toMatchObject({ code: 0, report: { found: 2, recorded: 2 } })
  })

  it('fails, and says what to do, about burns that its own relayer sent and that derive from nothing', async () => {
    const other = writeConfig('other.jsonl', (tables) => ({
      ...tables,
      settlement: { ...(tables.settlement as object), treasury: `0x${'42'.repeat(20)}` } as never,
    }))
    const { code, report } = await recover(other)
    expect(report).toMatchObject({ found: 2, recorded: 0, failed: 2 })
    expect(report?.burns[0]?.reason).toContain('our relayer sent it')
    expect(code).toBe(1)
  })

  it('finds payments that no journal knows, by the helper and by their nonces; a start mints them', async () => {
    const { code, report, stderr } = await recover(writeConfig('lost.jsonl'), '--nonce', late.challengeNonce)
    expect(stderr).toContain('2 of them are ours')
    expect(report?.burns).toMatchObject([
      { challengeNonce: first.challengeNonce, source: 'helper', state: 'recorded' },
      { challengeNonce: second.challengeNonce, source: 'helper', state: 'recorded' },
      { challengeNonce: late.challengeNonce, source: 'nonce', state: 'recorded' },
    ])
    expect(code).toBe(0)
    expect(await balanceOfProvider()).toBe(0n)
    await mint('lost.jsonl', first, second, late)
    expect(await balanceOfProvider()).toBe(3500n)
  })

  it('finds nothing a second time, also when that journal is lost as well', async () => {
    for (const journal of ['lost.jsonl', 'lost-again.jsonl']) {
      const again = await recover(writeConfig(journal), '--nonce', late.challengeNonce)
      expect(again).toMatchObject({ code: 0, report: { found: 0 } })
    }
  })

  it('fault 8: what the journal knows is the daemon’s: it records what others minted, late burns too, and leaves alone what can still be presented', async () => {
    // The relayer has minted with another journal since, so the operator must confirm this journal.
    const refused = await recover(writeConfig('kept.jsonl'))
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('transactions that the ledger does not know')
    const checked = await runCommand(['check', '--config', writeConfig('kept.jsonl')], env)
    expect([checked.code, checked.stdout]).toEqual([
      1,
      expect.stringMatching(/^fail settlement\.journal: .*does not know/m),
    ])
    const accepted = await recover(writeConfig('kept.jsonl'), '--accept-copy')
    expect(accepted).toMatchObject({ code: 0, report: { found: 0 } })
    expect(await mint('kept.jsonl', first, second, late)).toBe('open')
    expect(await balanceOfProvider()).toBe(3500n)
  })

  it('fault 27: transfers behind a restored backup are found by the addresses that it knows, without a nonce', async () => {
    const { code, report, stderr } = await recover(writeConfig('backup.jsonl'))
    expect(stderr).toContain('ledger.copy_accepted')
    expect([code, report]).toMatchObject([0, { found: 0 }])
    expect(await mint('backup.jsonl', first, second, late)).toBe('open')
    expect(await balanceOfProvider()).toBe(3500n)
  })

  it('finds a self-transfer of which no ledger knows by the log of the daemon that is gone', async () => {
    const config = writeConfig('logged.jsonl', (tables) => ({
      ...tables,
      listen: { ...(tables.listen as object), port: 0 } as never,
    }))
    const daemon = startCommand(['start', '--config', config], env)
    const url = await until(
      async () => /"facilitator\.ready","url":"([^"]+)"/.exec(daemon.output.stdout)?.[1],
    )
    const offer = await until(async () => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${url}/challenge`, { method: 'POST', headers, body: '{"amount":"700"}' })
      return answer.ok && ((await answer.json()) as ChallengeOffer)
    })
    await net.transfer(await net.account({ gas: true }), offer.payTo, '700')
    daemon.signal('SIGTERM')
    await daemon.ended
    const log = pathOf('daemon.log')
    writeFileSync(log, daemon.output.stdout)

    const without = await recover(writeConfig('no-log.jsonl'))
    expect(without).toMatchObject({ code: 0, report: { found: 0 } })
    const { code, report, stderr } = await recover(writeConfig('logged-lost.jsonl'), '--log', log)
    expect(stderr).toContain('1 nonces to look at')
    expect([code, report?.burns]).toMatchObject([
      0,
      [{ challengeNonce: offer.challengeNonce, source: 'nonce', state: 'recorded', value: '700' }],
    ])
    await mint('logged-lost.jsonl', offer)
    expect(await balanceOfProvider()).toBe(4200n)
  })
})
