/** A daemon with a key of its own is killed. What it had claimed and signed is ended by another one, without that key. */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { tokenAbi, verifierAbi } from '@svc-zerc20/contracts'
import { developmentRoles, spareAccounts } from '@svc-zerc20/devnet'
import type { Address } from '@svc-zerc20/protocol'
import { parse, stringify } from 'smol-toml'
import { zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { notRun, type PostgresServer, startPostgres } from '../../../../../test/support/postgres-server.js'
import { until } from '../../../../../test/support/until.js'
import { startDaemon } from '../../../test/daemon.js'
import { temporaryFiles } from '../../../test/files.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { startOwnFacilitator } from '../../../test/own-facilitator.js'
import { bodyOf } from '../../../test/payment.js'
import { limits } from '../../config/limits.js'

type Tables = Record<string, Record<string, unknown>>

describe.skipIf(notRun() !== '')(`a daemon that is killed for good${notRun()}`, () => {
  const files = temporaryFiles()
  let server: PostgresServer
  let net: TestNetwork
  beforeAll(async () => {
    server = await startPostgres()
    await server.run('CREATE DATABASE orphans')
    net = await startNetwork({ finalization: true })
  })
  afterAll(async () => {
    await net.close()
    await server.close()
  })
  const count = async (rows: string) => Number(await server.run(`SELECT count(*) FROM ${rows}`, 'orphans'))

  const changes = (finalizeMs: number): Tables => ({
    listen: { port: 0 },
    settlement: { journal: 'none' },
    storage: { url: server.url('orphans') },
    daemon: { finalize_interval_ms: finalizeMs, follow_interval_ms: 1_000 },
  })

  const [ownKey, otherKey] = spareAccounts
  if (!ownKey || !otherKey) throw new Error('two accounts')

  /** A daemon in a process of its own. It mints only what it is told to. */
  async function startApart() {
    const tables = parse(readFileSync(net.configFile, 'utf8')) as unknown as Tables
    for (const [name, keys] of Object.entries(changes(3_600_000))) tables[name] = { ...tables[name], ...keys }
    const daemon = await startDaemon(files.write('facilitator.toml', stringify(tables)), {
      SVC_TREASURY_PK: developmentRoles.treasury.privateKey,
      SVC_RELAYER_PK: ownKey?.privateKey ?? '',
      SVC_ADMIN_TOKEN: net.adminToken,
    })
    const post = async (path: string, body: unknown) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${net.adminToken}` }
      const answer = await fetch(`${daemon.url}${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      return (await answer.json()) as Record<string, unknown>
    }
    await until(() => daemon.log().some(({ event }) => event === 'work.taken'))
    return { ...daemon, post }
  }

  it('its mint and the burn behind it are sent again in their order, its unsigned claim is adopted, and nothing happens twice', async () => {
    const killed = await startApart()
    const heir = await startOwnFacilitator(net, {
      env: { SVC_RELAYER_PK: otherKey.privateKey },
      journal: 'unused',
      config: changes(1_000),
    })
    expect(heir.reported('sending.taken')).toHaveLength(1)
    const { treasury } = (parse(readFileSync(net.configFile, 'utf8')) as unknown as Tables).settlement as {
      treasury: Address
    }
    const before = await net.balanceOf(treasury)
    const pay = async (amount: string) => {
      const offer = await heir.challenge(amount)
      return { offer, body: bodyOf(offer, await net.permitFor(offer, await net.account())) }
    }

    const minted = await pay('1000')
    expect(await killed.post('/settle', minted.body)).toMatchObject({ success: true })
    const transfers = await net.client.getContractEvents({
      address: net.deployment.token,
      abi: tokenAbi,
      eventName: 'IndexedTransfer',
      fromBlock: 0n,
    })
    const last = transfers.findLastIndex(({ args }) => args.from !== zeroAddress)
    const verifier = { address: net.deployment.verifier, abi: verifierAbi } as const
    await until(
      async () => (await net.client.readContract({ ...verifier, functionName: 'latestProvedIndex' })) > last,
    )
    const [signed, unsigned] = [await pay('2000'), await pay('3000')]

    // No block takes its mint, nor the burn behind it, and for another burn it finds no price.
    await net.chain.pauseMining()
    await killed.post(`/admin/payments/${minted.offer.challengeNonce}/retry`, {})
    await until(async () => (await count("carried WHERE slot LIKE 'mint/%'")) === 1)
    killed.post('/settle', signed.body).catch(() => undefined)
    await until(
      async () => (await count("carried WHERE slot LIKE 'burn/%' AND accepted_block IS NULL")) === 1,
    )
    await sleep(limits.gasPricesFreshMs)
    net.chain.setFaults([{ method: 'eth_maxPriorityFeePerGas', kind: 'hang' }])
    killed.post('/settle', unsigned.body).catch(() => undefined)
    await until(async () => (await count("payment WHERE stage = 'claimed'")) === 2)
    killed.signal('SIGKILL')
    await killed.ended
    expect(await count("carried WHERE slot LIKE 'burn/%' AND accepted_block IS NULL")).toBe(1)

    // And the node forgets what it was sent.
    await net.chain.dropPending()
    net.chain.setFaults([])
    await net.chain.resumeMining()
    for (const { body } of [signed, unsigned]) {
      await until(async () => (await heir.post('/settle', body)).success)
    }
    const senderOf = async ({ offer }: typeof signed) => {
      const burns = await net.burnsOf(offer.challengeNonce)
      expect(burns).toHaveLength(1)
      const hash = burns[0]?.transactionHash ?? '0x'
      return (await net.client.getTransaction({ hash })).from.toLowerCase()
    }
    expect(await senderOf(signed)).toBe(ownKey.address.toLowerCase())
    expect(await senderOf(unsigned)).toBe(otherKey.address.toLowerCase())
    expect(await count("event WHERE kind = 'claim_adopted'")).toBe(1)
    expect(heir.reported('work.taken')).toHaveLength(1)

    for (const { offer } of [minted, signed, unsigned]) {
      await until(async () => {
        const { payment } = await heir.admin(`/payments/${offer.challengeNonce}`)
        return Object(payment).phase === 'finalized'
      })
    }
    expect((await net.balanceOf(treasury)) - before).toBe(6000n)
    // All that it had signed is in blocks. Whichever came first, its mint or the one that was proved again, minted alone.
    expect(await net.client.getTransactionCount({ address: ownKey.address as Address })).toBe(3)
    expect(await count("carried WHERE slot LIKE 'mint/%'")).toBe(0)
    await heir.close()
  })
})
