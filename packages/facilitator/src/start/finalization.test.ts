import { SvcError } from '@svc-zerc20/protocol'
import { describe, expect, it } from 'vitest'
import { stoppedClock } from '../../../../test/support/clocks.js'
import { folderOf } from '../../test/artifacts.js'
import { addressOf, burnOf, challengeOf, deployment, hashOf, nonceOf } from '../../test/challenges.js'
import { minimalConfig } from '../../test/config.js'
import { createMemoryLedger } from '../../test/ledger.js'
import { parseConfig } from '../config/config.js'
import { paceOf, profileOf } from '../config/settings.js'
import type { LogEvent } from '../telemetry/events.js'
import { createFinalization } from './finalization.js'
import type { LeasedParts } from './parts.js'

/** A daemon that signed a mint in its last run, on a chain that nobody may ask. */
async function setup(profile: string, zerc20 = '', listen = '') {
  const config = parseConfig(`${minimalConfig({ listen }, profile)}\n[zerc20]\n${zerc20}\n`)
  const clock = stoppedClock()
  const ledger = createMemoryLedger({ clock, openMax: 10, expiredRetentionSeconds: 60 })
  await ledger.recordLate(challengeOf(1), burnOf(1), 'late')
  await ledger.recordMintSigned({ txNonce: 0, hash: hashOf(5), raw: '0x00', from: addressOf(0xb0) }, [
    nonceOf(1),
  ])
  const events: LogEvent[] = []
  const resumed: unknown[] = []
  const relayer = {
    address: deployment.treasury,
    submit: () => Promise.reject(new Error('nothing may be sent')),
    resume(earlier: unknown) {
      resumed.push(earlier)
      return Promise.reject(new SvcError('closed', 'the relayer is not running'))
    },
  }
  const deps = {
    config,
    profile: profileOf(config),
    chainSide: { rpc: {}, chain: {}, deployment },
    senders: { relayer, minter: undefined, mintSender: relayer },
    secrets: {},
    storage: { ledger },
    seed: new Uint8Array(32),
    clock,
    random: { bytes: (length: number) => new Uint8Array(length) },
    telemetry: { log: (event: LogEvent) => events.push(event) },
  } as unknown as LeasedParts
  return { deps, events, resumed }
}

describe('finalization', () => {
  it.each(['testnet', 'production', ''])(
    'R-115 is frozen under the profile "%s": nothing is taken up again',
    async (profile) => {
      const { deps, events, resumed } = await setup(
        profile,
        `artifacts = '${folderOf({ setup: 'ceremony' })}'`,
      )
      const finalization = await createFinalization(deps)
      await finalization.resumeMints()
      finalization.startLoop()
      expect(resumed).toEqual([])
      expect(finalization.retry).toBeUndefined()
      expect(events).toEqual([
        { event: 'finalize.off', reason: expect.stringContaining('freezes finalization') },
      ])
      await finalization.close()
    },
  )

  it('is off without proving keys; what the last run sent is still watched, and may fail without harm', async () => {
    const { deps, events, resumed } = await setup('local')
    const finalization = await createFinalization(deps)
    await finalization.resumeMints()
    finalization.startLoop()
    await new Promise((resolve) => setImmediate(resolve))
    expect(resumed).toHaveLength(1)
    expect(events.map(({ event }) => event)).toEqual(['mint.resumed', 'finalize.off', 'finalize.failed'])
    await finalization.close()
  })

  it('does not start on development keys where others could profit from them', async () => {
    const { deps } = await setup('local', `artifacts = '${folderOf()}'`, "host = '0.0.0.0'\n")
    await expect(createFinalization(deps)).rejects.toMatchObject({
      code: 'config_invalid',
      message: 'zerc20.artifacts: keys of a development setup, which need a loopback listen.host',
    })
    const { deps: missing } = await setup('local', "artifacts = '/nowhere'")
    await expect(createFinalization(missing)).rejects.toMatchObject({ code: 'config_invalid' })
  })

  it('R-070 retries at the pace of its period, at most ten of them', async () => {
    const { deps } = await setup('local')
    expect(paceOf(deps.config)).toMatchObject({
      delayMaxMs: 60_000,
      retryMs: { first: 15_000, max: 150_000 },
    })
  })
})
