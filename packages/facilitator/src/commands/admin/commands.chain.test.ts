/** Commands against a running daemon, as an operator types them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { developmentRoles } from '@svc-zerc20/devnet'
import { textTable } from '@svc-zerc20/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../../../test/command.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { runHere } from '../../../test/run-here.js'

let net: TestNetwork
let nonce: string
let burn: string

beforeAll(async () => {
  net = await startNetwork()
  const { offer, body } = await net.permitPayment(await net.account())
  nonce = offer.challengeNonce
  burn = (await net.settle(body)).body.transaction
})
afterAll(() => net.close())

/** Of the environment the command gets the token. */
const run = (
  args: readonly string[],
  { token = net.adminToken, url = net.facilitatorUrl, parent = ['admin'] } = {},
) => runHere([...parent, ...args, '--url', url], { SVC_ADMIN_TOKEN: token })

/** The configuration of the daemon that runs, with its port. */
function configBeside(): string {
  const file = join(net.directory, 'beside.toml')
  const text = readFileSync(net.configFile, 'utf8')
  writeFileSync(file, text.replace(/port = 0/, `port = ${new URL(net.facilitatorUrl).port}`))
  return file
}

it('a sweep that failed is no success: exit code 75, and why', async () => {
  const daemon = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ sweep: 'failed', reason: 'unfunded', message: 'the treasury has no gas' }))
  })
  await new Promise<void>((resolve) => daemon.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(daemon.address() as AddressInfo).port}`
  try {
    const { code, stdout } = await run([], { parent: ['sweep'], url })
    expect(stdout).toMatch(/^sweep +failed\nreason +unfunded\nmessage +the treasury has no gas\n$/)
    expect(code).toBe(75)
  } finally {
    daemon.close()
  }
})

it('a status with a count that cannot be names the field', async () => {
  const headers = { authorization: `Bearer ${net.adminToken}` }
  const status = (await (await fetch(`${net.facilitatorUrl}/admin/status`, { headers })).json()) as {
    payments: object
  }
  const daemon = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...status, payments: { ...status.payments, finalized: -1 } }))
  })
  await new Promise<void>((resolve) => daemon.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(daemon.address() as AddressInfo).port}`
    const { code, stderr } = await run(['status'], { url })
    expect(stderr).toContain('/admin/status: payments.finalized: ')
    expect(code).toBe(1)
  } finally {
    daemon.close()
  }
})

describe('beside the daemon that runs', () => {
  const { treasury, relayer } = developmentRoles
  const env = { SVC_TREASURY_PK: treasury.privateKey, SVC_RELAYER_PK: relayer.privateKey }

  it('check is content with its port and its journal', async () => {
    const { code, stdout } = await runCommand(['check', '--config', configBeside()], env)
    expect(stdout).toMatch(
      /^ok {3}listen\.port: \d+ at 127\.0\.0\.1 is in use by a facilitator of this network/m,
    )
    expect(stdout).toMatch(/^ok {3}settlement\.journal: .* is in use by another daemon/m)
    expect(stdout).not.toMatch(/^fail/m)
    expect(code).toBe(0)
  })

  it('start and recover find the journal in use; recover does not ask for the port', async () => {
    const started = await runCommand(['start', '--config', configBeside()], env)
    expect([started.code, started.stderr]).toEqual([75, expect.stringContaining('listen.port')])
    const recovered = await runCommand(['recover', '--config', configBeside()], env)
    expect(recovered.stderr).not.toContain('listen.port')
  })

  it('admin takes the address from the configuration', async () => {
    const token = { SVC_ADMIN_TOKEN: net.adminToken }
    const { code, stdout } = await runCommand(['admin', 'status', '--config', configBeside()], token)
    expect(stdout).toMatch(/^network +eip155:31337$/m)
    expect(code).toBe(0)
  })
})

describe('svc-facilitator admin', () => {
  it('status prints the daemon at a glance, or JSON', async () => {
    const { code, stdout } = await run(['status'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^network +eip155:31337$/m)
    expect(stdout).toMatch(/^ready +yes$/m)
    expect(stdout).toMatch(/^payments +open 0, expired 0, accepted 1, finalized 0, claimed 0, /m)
    expect(JSON.parse((await run(['status', '--json'])).stdout)).toMatchObject({ payments: { accepted: 1 } })
  })

  it('status tells what is owed to the provider and why, the gas, the node, the clock and the disk', async () => {
    const { stdout } = await run(['status'])
    expect(stdout).toMatch(
      /^mints +awaiting 1, owed 1000 \(0\.001 \S+\), oldestAt \d{4}-\S+Z, oldestSeconds \d+, reasons off 1, off no proving keys were found \(zerc20\.artifacts\)$/m,
    )
    expect(stdout).toMatch(
      /^relayer .*, spent burn transactions 1, gas \d+, wei 0\.\d+ ETH, mint transactions 0,/m,
    )
    expect(stdout).toMatch(/^chain +reachable yes, head \d+, roundTripMs \d+, clockSkewSeconds 0$/m)
    expect(stdout).toMatch(/^journal .* freeBytes \d+$/m)
  })

  it('fees shows what is due and swept, and sweep tells that there is nothing', async () => {
    const fees = (await run(['fees'])).stdout
    expect(fees).toMatch(/^mode +none$/m)
    expect(fees).toMatch(/^due +payments 0, amount 0 \(0 \S+\)$/m)
    expect(fees).toMatch(/^swept +sweeps 0, payments 0, amount 0 \(0 \S+\)$/m)
    expect((await run(['status'])).stdout).toMatch(
      /^fees +mode none, .* due payments 0, amount 0 \(0 \S+\),/m,
    )
    for (const args of [['sweep', '--dry-run'], ['sweep']]) {
      expect(await run(args, { parent: [] })).toMatchObject({ code: 0, stdout: 'sweep  nothing_due\n' })
    }
    expect((await run(['sweep'], { parent: [], token: 'x'.repeat(48) })).code).toBe(1)
  })

  it('status shows money and queue, payments the open ones, metrics every series', async () => {
    const status = (await run(['status'])).stdout
    expect(status).toMatch(/^relayer +address \S+, balance \d+(\.\d+)? ETH, .*pending 0,/m)
    expect(status).toMatch(/^queue +none$/m)
    const { challengeNonce } = await net.challenge()
    const open = (await run(['payments', '--phase', 'open', '--limit', '5'])).stdout
    expect(open).toContain(challengeNonce)
    expect((await run(['metrics'])).stdout).toMatch(/^svc_mints_waiting\{reason="\w+"\} 1$/m)
    expect((await run(['metrics'], { token: 'wrong' })).code).toBe(1)
  })

  it('payments lists them with their burns, and by filter', async () => {
    const { stdout } = await run(['payments', '--phase', 'accepted'])
    expect(stdout).toContain(nonce)
    expect(stdout).toContain(burn)
    expect((await run(['payments', '--phase', 'finalized'])).stdout).toBe('payments  none\n')
  })

  it('payment shows one with its turns', async () => {
    const { code, stdout } = await run(['payment', nonce])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^phase +accepted$/m)
    expect(stdout).toMatch(/^timeline\nat +event +txHash\n/m)
    expect(stdout).toContain('payment_accepted')
    expect(stdout).toContain(burn)
  })

  it('late says when there are none', async () => {
    expect((await run(['late'])).stdout).toMatch(
      /^late +none\nunmatched +none\nstuck +none\ndemoted +none\n$/,
    )
  })

  it('retry says what came of it: a daemon without proving keys mints nothing', async () => {
    expect((await run(['retry', nonce])).stdout).toMatch(/^mint +off$/m)
    const { offer } = await net.permitPayment(await net.account())
    expect((await run(['retry', offer.challengeNonce])).stdout).toMatch(/^mint +not_burned$/m)
    expect((await run(['retry', `0x${'0'.repeat(64)}`])).code).toBe(1)
  })

  it('pause and resume turn issuance off and on', async () => {
    expect((await run(['pause'])).stdout).toBe('issuance  paused\n')
    expect((await net.post('/challenge', { amount: '1' })).body.reason).toBe('issuance_paused')
    await run(['pause', '--message', 'moving to a new relayer, back at noon'])
    expect((await net.post('/challenge', { amount: '1' })).body).toEqual({
      error: 'paused by the operator: moving to a new relayer, back at noon',
      reason: 'issuance_paused',
    })
    expect((await run(['pause', '--message', 'two\nlines'])).code).toBe(1)
    expect((await run(['resume'])).stdout).toBe('issuance  open\n')
    await net.challenge()
  })

  it('exits 1 with one line when the daemon refuses, and shows no token', async () => {
    for (const [args, options] of [
      [['status'], { token: 'a-token-that-is-wrong' }],
      [['status'], { token: '' }],
      [['payment', `0x${'0'.repeat(64)}`], {}],
      [['payments', '--phase', 'paid'], {}],
    ] as const) {
      const { code, stdout, stderr } = await run(args, options)
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^fail \S.*\n$/)
      expect(stderr).not.toContain('a-token-that-is-wrong')
    }
  })

  it('exits 1 for something that is not this daemon, and 75 when nothing answers', async () => {
    expect((await run(['status'], { url: net.controlUrl })).code).toBe(1)
    const { code, stderr } = await run(['status'], { url: 'http://127.0.0.1:1' })
    expect([code, stderr]).toEqual([75, 'fail no daemon answers at 127.0.0.1:1\n'])
  })
})

describe('a table', () => {
  it('has columns as wide as their widest cell and no trailing spaces', () => {
    expect(
      textTable([
        ['a', 'bbb', 'c'],
        ['aaa', 'b', ''],
      ]),
    ).toBe('a    bbb  c\naaa  b\n')
  })
})
