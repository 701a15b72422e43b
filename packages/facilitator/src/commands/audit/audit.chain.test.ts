import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { runCommand } from '../../../test/command.js'
import { copyLedger } from '../../../test/ledger-files.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { startOwnFacilitator } from '../../../test/own-facilitator.js'
import { bodyOf } from '../../../test/payment.js'
import { runHere } from '../../../test/run-here.js'

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
})
afterAll(() => net.close())

const pathOf = (name: string) => join(net.directory, name)

/** With the token of the daemon and no key. */
const audit = (...args: string[]) => runHere(...auditWith(...args))
const auditWith = (...args: string[]) =>
  [['audit', '--config', net.configFile, ...args], { SVC_ADMIN_TOKEN: net.adminToken }] as const

it('beside the daemon that runs, chain and books agree', async () => {
  const { code, stdout, stderr } = await runCommand(...auditWith('--url', net.facilitatorUrl))
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('burned      1500 in the books, 1500 on the chain')
  expect(stdout).toContain('minted      1500 in the books, 1500 on the chain')
  expect(stdout).toContain('chain and books agree')
})

it('an old copy of the books differs, and each difference is named', async () => {
  const config = { zerc20: { artifacts: undefined }, daemon: { follow_interval_ms: 3_600_000 } }
  const old = await startOwnFacilitator(net, { journal: 'old.jsonl', isCopyAccepted: true, config })
  // The newest blocks are left out, because their burns and mints may be on the way into the books.
  await net.chain.request('hardhat_mine', ['0x40'])
  try {
    const { code, stdout } = await audit('--url', old.url, '--json')
    const { differences, minted, owed } = JSON.parse(stdout)
    expect({ minted, owed }).toEqual({ minted: { books: '0', chain: '1500' }, owed: '1000' })
    expect(differences).toHaveLength(2)
    expect(differences[0]).toMatchObject({
      about: 'minted',
      message: expect.stringContaining('no payment of the books'),
    })
    expect(code).toBe(1)
  } finally {
    await old.close()
  }
})

it('without a daemon that answers there is nothing to compare: exit code 75, and 1 for a wrong token', async () => {
  expect(await audit('--url', 'http://127.0.0.1:1')).toMatchObject({
    code: 75,
    stderr: 'fail no daemon answers at 127.0.0.1:1\n',
  })
  const wrong = { SVC_ADMIN_TOKEN: 'a-token-that-is-wrong' }
  const args = ['audit', '--config', net.configFile, '--url', net.facilitatorUrl]
  expect(await runHere(args, wrong)).toMatchObject({ code: 1, stderr: expect.stringContaining('401') })
})

it('of a period, only its payments are compared', async () => {
  const { stdout } = await audit('--url', net.facilitatorUrl, '--until', '2020-01-01')
  expect(stdout).toContain(' to 2020-01-01T00:00:00Z, 0 payments')
  expect(stdout).toContain('minted      0 in the books, 0 on the chain')
})
