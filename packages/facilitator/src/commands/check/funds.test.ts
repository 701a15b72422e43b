import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { addressOf, units } from '../../../test/challenges.js'
import type { PartialConfig } from '../../config/config.js'
import { judgeCosts, paymentGas } from './funds.js'

const gwei = 1_000_000_000n
const relayed: PartialConfig['settlement'] = { permit_burner: addressOf(1) }
const snapshot = new URL('../../../../../contracts/test/gas-snapshot.json', import.meta.url)

describe('what a payment costs', () => {
  it('is counted with the gas that was measured, within two percent', () => {
    const measured = JSON.parse(readFileSync(snapshot, 'utf8')) as Record<string, number>
    const offBy = (gas: bigint, name: string) => Math.abs(Number(gas) / (measured[name] ?? 0) - 1)
    expect(offBy(paymentGas.burn, 'per burn in a batch of 1')).toBeLessThan(0.02)
    expect(offBy(paymentGas.mint, 'singleTeleport to a known address')).toBeLessThan(0.02)
  })

  it.each(['testnet', 'production', undefined] as const)(
    'is a warning where dust is taken on a network that is not local (profile %s)',
    (profile) => {
      const { level, message } = judgeCosts(
        { ...(profile && { profile }), settlement: relayed, finalize: {} },
        10n * gwei,
      )
      expect(level).toBe('warn')
      expect(message).toContain('is not set, so payments of one base unit are taken')
      expect(message).toContain('0.0014 for its burn when it is relayed and 0.0031 for its mint')
    },
  )

  it.each([
    { profile: 'local', settlement: relayed, finalize: {} },
    { profile: 'production', settlement: { ...relayed, min_amount: units(1n) }, finalize: {} },
  ] as const)('is told, and no warning, where somebody decided ($profile)', (config) => {
    expect(judgeCosts(config, gwei)).toMatchObject({
      level: 'ok',
      message: expect.stringContaining('0.00031 for its mint'),
    })
  })

  it('is a warning with relay_min_amount alone: a smaller payment is burned by its payer, and minted all the same', () => {
    const settlement = { ...relayed, relay_min_amount: units(1000n) }
    expect(judgeCosts({ profile: 'production', settlement, finalize: {} }, gwei)).toMatchObject({
      level: 'warn',
    })
  })

  it('is the mint alone without a relayer for burns, and zero is no minimum', () => {
    const { level, message } = judgeCosts(
      { profile: 'production', settlement: { min_amount: units(0n) }, finalize: {} },
      gwei,
    )
    expect([level, message.includes('burn')]).toEqual(['warn', false])
  })

  it.each([
    // Forty payments of it: 0.31 of a token of six decimals is what a mint costs at this price.
    [
      units(7_749n),
      'warn',
      /is too low .* 40 payments around another one, .* cost 0\.30996 of the token, less than one mint/,
    ],
    [
      units(7_750n),
      'ok',
      /; 40 payments around another one, which may name whom that paid, cost 0\.31 of the token$/,
    ],
    [units(1n), 'warn', /cost 0\.00004 of the token/],
  ] as const)(
    'in batches, %d is judged by what it costs to surround a payment: %s',
    (least, level, message) => {
      const config = { profile: 'local', settlement: { min_amount: least } } as const
      expect(judgeCosts({ ...config, finalize: { mode: 'batch' } }, 1000n * gwei, 6)).toMatchObject({
        level,
        message: expect.stringMatching(message),
      })
      expect(judgeCosts({ ...config, finalize: { mode: 'single' } }, 1000n * gwei, 6)).toMatchObject({
        level: 'ok',
        message: expect.not.stringContaining('around'),
      })
    },
  )
})
