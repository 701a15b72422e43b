import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { developmentRoles } from '@svc-zerc20/devnet'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { runCommand } from '../../../test/command.js'
import { copyLedger } from '../../../test/ledger-files.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { bodyOf } from '../../../test/payment.js'

const { treasury, relayer } = developmentRoles

let net: TestNetwork
let nonce: string
beforeAll(async () => {
  net = await startNetwork({ finalization: true })
  const payer = await net.account({ gas: true })
  const { offer, body } = await net.permitPayment(payer, '1000')
  nonce = offer.challengeNonce
  expect((await net.settle(body)).body.success).toBe(true)
  // The books of this moment, which an operator may put back later.
  copyLedger(pathOf('journal.jsonl'), pathOf('old.jsonl'))
  const second = await net.challenge('500')
  const burnTxHash = await net.transfer(payer, second.payTo, '500')
  const payload = { challengeNonce: second.challengeNonce, burnTxHash }
  expect((await net.settle(bodyOf(second, payload))).body.success).toBe(true)
  for (const one of [nonce, second.challengeNonce])
    await until(async () => (await net.phaseOf(one)) === 'finalized')
}, 600_000)
afterAll(() => net.close())

const pathOf = (name: string) => join(net.directory, name)

async function audit(...args: string[]) {
  const env = { SVC_TREASURY_PK: treasury.privateKey, SVC_RELAYER_PK: relayer.privateKey }
  return runCommand(['audit', ...args], { ...env, SVC_ADMIN_TOKEN: net.adminToken })
}

it('beside the daemon that runs, chain and books agree', async () => {
  const { code, stdout, stderr } = await audit('--config', net.configFile, '--url', net.facilitatorUrl)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('burned      1500 in the books, 1500 on the chain')
  expect(stdout).toContain('minted      1500 in the books, 1500 on the chain')
  expect(stdout).toContain('chain and books agree')
})

it('an old copy of the books differs, and each difference is named', async () => {
  const file = pathOf('old.toml')
  writeFileSync(
    file,
    readFileSync(net.configFile, 'utf8')
      .replace(/journal = .*/, `journal = '${pathOf('old.jsonl')}'`)
      // No daemon is there.
      .replace(/port = \d+/, 'port = 1'),
  )
  const { code, stdout } = await audit('--config', file, '--json')
  const { differences, minted, owed } = JSON.parse(stdout)
  expect({ minted, owed }).toEqual({ minted: { books: '0', chain: '1500' }, owed: '1000' })
  expect(differences).toHaveLength(2)
  expect(differences[0]).toMatchObject({
    about: 'minted',
    message: expect.stringContaining('no payment of the books'),
  })
  expect(code).toBe(1)
})

it('of a period, only its payments are compared', async () => {
  const { stdout } = await audit(
    '--config',
    net.configFile,
    '--url',
    net.facilitatorUrl,
    '--until',
    '2020-01-01',
  )
  expect(stdout).toContain(' to 2020-01-01T00:00:00Z, 0 payments')
  expect(stdout).toContain('minted      0 in the books, 0 on the chain')
})
