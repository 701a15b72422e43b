import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { developmentRoles } from '@svc-zerc20/devnet'
import {
  type BaseUnits,
  Payload,
  parseAddress,
  parseChallengeNonce,
  type UnixSeconds,
} from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { deriveSeed, seedFingerprint } from '@svc-zerc20/zk'
import { hexToBytes } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { startBeside } from '../../../test/beside.js'
import { startNetwork, type TestNetwork } from '../../../test/network.js'
import { openTestLedger } from '../../../test/open-ledger.js'
import type { Challenge } from '../records.js'

let net: TestNetwork
const folder = mkdtempSync(join(tmpdir(), 'svc-frozen-'))
beforeAll(async () => {
  net = await startNetwork()
})
afterAll(async () => {
  await net.close()
  rmSync(folder, { recursive: true })
})

const treasuryKey = generatePrivateKey()

/** The journal of a daemon that was killed after a good permit was claimed and before anything was signed. */
async function journalWithClaim(name: string) {
  const path = join(folder, name)
  const payer = await net.account()
  const { offer, payload } = await net.permitPayment(payer)
  const nonce = parseChallengeNonce(offer.challengeNonce)
  const payTo = parseAddress(offer.payTo)
  const treasury = parseAddress(developmentRoles.treasury.address)
  const token = parseAddress(offer.token)
  const helper = parseAddress(offer.helper)
  const claimed = Payload.parse(payload)
  if (!nonce || !payTo || !treasury || !token || !helper || !claimed.ok)
    throw new Error('the network gave no good payment')
  const expiresAt = offer.expiresAt as UnixSeconds
  const challenge: Challenge = {
    nonce,
    payTo,
    treasury,
    amount: BigInt(offer.amount) as BaseUnits,
    listPrice: BigInt(offer.amount) as BaseUnits,
    issuedAt: (offer.expiresAt - 300) as UnixSeconds,
    expiresAt,
    deadline: offer.deadline as UnixSeconds,
    powNonce: 0,
    issuedAtBlock: 0n,
  }
  const { ledger, close } = await openTestLedger({
    journal: path,
    binding: { chainId: 31337, token, helper, seed: seedFingerprint(deriveSeed(hexToBytes(treasuryKey))) },
    clock: systemClock,
  })
  await ledger.issue(challenge)
  await ledger.claim(nonce, claimed.value)
  await close()
  return { path, challengeNonce: offer.challengeNonce }
}

describe('work that changes the chain and was left unfinished', () => {
  const env = {
    SVC_TREASURY_PK: treasuryKey,
    SVC_RELAYER_PK: developmentRoles.relayer.privateKey,
    SVC_ADMIN_TOKEN: 'a-token-for-the-second-daemon',
  }
  const headers = { authorization: `Bearer ${env.SVC_ADMIN_TOKEN}` }

  it('is taken up again under the profile local', async () => {
    const { path, challengeNonce } = await journalWithClaim('local.jsonl')
    const daemon = await startBeside(net, { profile: 'local', journal: path, env })
    try {
      await until(async () => (await net.burnsOf(challengeNonce)).length === 1)
    } finally {
      await daemon.close()
    }
  })

  it.each(['testnet', 'production', undefined] as const)(
    'R-115 is frozen under the profile %s: it is kept, and nothing is signed or sent',
    async (profile) => {
      const relayerPk = generatePrivateKey()
      const { path, challengeNonce } = await journalWithClaim(`${profile}.jsonl`)
      const daemon = await startBeside(net, {
        profile,
        journal: path,
        env: { ...env, SVC_RELAYER_PK: relayerPk },
      })
      try {
        const metrics = await (await fetch(`${daemon.url}/admin/metrics`, { headers })).text()
        expect(metrics).toContain('svc_rpc_calls_total')
        // Resumed work is told before the daemon listens. Transactions may be sent a little later.
        expect(metrics).not.toMatch(/^svc_events_total\{event="burn\.\w+"\} [1-9]/m)
        expect(metrics).not.toContain('eth_sendRawTransaction')
        expect(metrics).toContain('svc_relayer_pending 0\n')
        const kept = await fetch(`${daemon.url}/admin/payments/${challengeNonce}`, { headers })
        expect(await kept.json()).toMatchObject({ payment: { phase: 'open', claimed: true } })
        expect(await net.burnsOf(challengeNonce)).toEqual([])
      } finally {
        await daemon.close()
      }
    },
  )
})
