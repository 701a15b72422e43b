import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureArtifacts } from '@svc-zerc20/circuits'
import { verifierAbi } from '@svc-zerc20/contracts'
import { developmentRoles } from '@svc-zerc20/devnet'
import { parse, stringify } from 'smol-toml'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { runCommand } from '../../../test/command.js'
import { copyLedger } from '../../../test/ledger-files.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import type { ChallengeOffer } from '../../../test/payment.js'
import { backUp } from '../../store/backup.js'
import type { RecoveryReport } from './report.js'

const { treasury, relayer, provider } = developmentRoles
const env = { SVC_TREASURY_PK: treasury.privateKey, SVC_RELAYER_PK: relayer.privateKey }

let net: TestNetwork
let artifacts: string
let journal: string
let first: ChallengeOffer
let second: ChallengeOffer
let late: ChallengeOffer
let open: ChallengeOffer
/** A facilitator that accepts payments and does not mint. An indexer proves the roots. */
beforeAll(async () => {
  artifacts = await ensureArtifacts()
  net = await startNetwork({
    finalization: true,
    realProofs: true,
    config: { zerc20: { artifacts: undefined }, settlement: { reorg_watch_blocks: 0 } },
  })
  const payer = await net.account({ gas: true })
  first = await acceptedPayment(payer, '1000')
  second = await acceptedPayment(payer, '400')
  net.clock.advance(-hourMs)
  late = await net.challenge('2000')
  net.clock.advance(hourMs)
  open = await net.challenge('3000')
  backUp(pathOf('journal.jsonl'), pathOf('backup.jsonl.db'))
  await net.transfer(payer, late.payTo, '2100')
  await net.transfer(payer, open.payTo, '3000')
  copyLedger(pathOf('journal.jsonl'), pathOf('kept.jsonl'))
  journal = readFileSync(pathOf('kept.jsonl'), 'utf8')
  await until(() =>
    net.client.readContract({
      address: net.deployment.verifier,
      abi: verifierAbi,
      functionName: 'isUpToDate',
    }),
  )
}, 240_000)
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
  const report = ended.stdout === '' ? undefined : (JSON.parse(ended.stdout) as RecoveryReport)
  return { ...ended, report }
}

async function acceptedPayment(payer: PrivateKeyAccount, amount: string) {
  const { offer, body } = await net.permitPayment(payer, amount)
  expect((await net.settle(body)).body.success).toBe(true)
  return offer
}

const balanceOfProvider = () => net.balanceOf(provider.address)

describe('svc-facilitator recover', () => {
  it('refuses with 75 while a daemon has the journal, and says who', async () => {
    const config = writeConfig('journal.jsonl')
    for (const args of [[], ['--dry-run']]) {
      const { code, stderr } = await recover(config, ...args)
      expect(stderr).toMatch(
        /^fail settlement\.journal: .* is in use by another daemon \(process \d+\): stop it first\n$/,
      )
      expect(code).toBe(75)
    }
  })

  it('R-115 refuses under a profile that freezes finalization', async () => {
    const frozen = writeConfig('frozen.jsonl', (tables) => ({ ...tables, profile: 'testnet' }))
    const token = { SVC_ADMIN_TOKEN: 'a-token-that-is-long-enough-for-anyone' }
    const own = { SVC_TREASURY_PK: `0x${'5a'.repeat(32)}`, SVC_RELAYER_PK: `0x${'5b'.repeat(32)}` }
    const ended = await runCommand(['recover', '--config', frozen], { ...own, ...token })
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringMatching(/zerc20\.artifacts|freezes/)])
  })

  it('finds the proving keys of the verifier where none are named', async () => {
    const without = writeConfig('kept.jsonl', (tables) => ({
      ...tables,
      zerc20: { ...(tables.zerc20 as object), artifacts: undefined } as never,
    }))
    expect(await recover(without, '--dry-run')).toMatchObject({ code: 0, report: { found: 4, due: 3 } })
  })

  it('looks without changing anything', async () => {
    const { code, report } = await recover(writeConfig('kept.jsonl'), '--dry-run')
    expect(report).toMatchObject({ dryRun: true, found: 4, due: 3, waiting: 1, finalized: 0, failed: 0 })
    expect(code).toBe(0)
    expect(readFileSync(pathOf('kept.jsonl'), 'utf8')).toBe(journal)
    expect(await balanceOfProvider()).toBe(0n)
  })

  it('finds burns to addresses that were mined with another proof of work than today’s', async () => {
    const harder = writeConfig('harder.jsonl', (tables) => {
      const zerc20 = tables.zerc20 as { pow_bits: number }
      return { ...tables, zerc20: { ...zerc20, pow_bits: zerc20.pow_bits + 2 } }
    })
    const { code, report } = await recover(harder, '--dry-run')
    expect(report).toMatchObject({ found: 2, due: 2 })
    expect(code).toBe(0)
  })

  it('fails, and says what to do, about burns that its own relayer sent and that derive from nothing', async () => {
    const other = writeConfig('other.jsonl', (tables) => ({
      ...tables,
      settlement: { ...(tables.settlement as object), treasury: `0x${'42'.repeat(20)}` } as never,
    }))
    const { code, report } = await recover(other, '--dry-run')
    expect(report).toMatchObject({ found: 2, failed: 2 })
    expect(report?.burns[0]?.reason).toContain('our relayer sent it')
    expect(code).toBe(1)
  })

  it('finds payments that no journal knows, by the helper and by their nonces, and finalizes them', {
    timeout: 120_000,
  }, async () => {
    const { code, report, stderr } = await recover(writeConfig('lost.jsonl'), '--nonce', late.challengeNonce)
    expect(stderr).toContain('2 of them are ours')
    expect(report?.burns).toMatchObject([
      { challengeNonce: first.challengeNonce, source: 'helper', state: 'finalized' },
      { challengeNonce: second.challengeNonce, source: 'helper', state: 'finalized' },
      { challengeNonce: late.challengeNonce, source: 'nonce', state: 'finalized' },
    ])
    expect(code).toBe(0)
    expect(await balanceOfProvider()).toBe(3500n)
  })

  it('finds nothing a second time, also when that journal is lost as well', async () => {
    for (const journalName of ['lost.jsonl', 'lost-again.jsonl']) {
      const again = await recover(writeConfig(journalName), '--nonce', late.challengeNonce)
      expect(again).toMatchObject({ code: 0, report: { found: 0 } })
    }
    expect(await balanceOfProvider()).toBe(3500n)
  })

  it('fault 8: records what others minted, late burns too, and leaves alone what can still be presented', async () => {
    // The relayer has minted with another journal since, so the operator must confirm this journal.
    const refused = await recover(writeConfig('kept.jsonl'))
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('transactions that the journal does not know')
    const checked = await runCommand(['check', '--config', writeConfig('kept.jsonl')], env)
    expect([checked.code, checked.stdout]).toEqual([
      1,
      expect.stringMatching(/^fail settlement\.journal: .*does not know/m),
    ])
    const { code, report, stderr } = await recover(writeConfig('kept.jsonl'), '--accept-journal')
    expect(report?.burns).toMatchObject([
      { challengeNonce: first.challengeNonce, source: 'journal', state: 'finalized' },
      { challengeNonce: second.challengeNonce, source: 'journal', state: 'finalized' },
      { challengeNonce: late.challengeNonce, source: 'transfer', value: '2100', state: 'finalized' },
      { challengeNonce: open.challengeNonce, state: 'waiting', reason: 'its payer can still present it' },
    ])
    expect(stderr).not.toContain('mint.proving')
    // One payer may still present its burn, so something is left to do.
    expect(code).toBe(75)
    expect(await balanceOfProvider()).toBe(3500n)
  })

  it('fault 27: finds transfers behind a restored backup by the addresses that it knows, without a nonce', {
    timeout: 120_000,
  }, async () => {
    const { code, report, stderr } = await recover(writeConfig('backup.jsonl'))
    expect(report?.burns).toMatchObject([
      { challengeNonce: first.challengeNonce, source: 'journal', state: 'finalized' },
      { challengeNonce: second.challengeNonce, source: 'journal', state: 'finalized' },
      { challengeNonce: late.challengeNonce, source: 'transfer', value: '2100', state: 'finalized' },
      { challengeNonce: open.challengeNonce, state: 'waiting', reason: 'its payer can still present it' },
    ])
    expect(stderr).toContain('journal.copy_accepted')
    expect(code).toBe(75)
    expect(await balanceOfProvider()).toBe(3500n)
  })
})
