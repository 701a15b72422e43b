import { permitBurnerRuntime } from '@svc-zerc20/contracts'
import type { Address, Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { countSignatures } from '../../test/counting-account.js'
import { callsDuring, startNetwork, type TestNetwork } from '../../test/network.js'
import { offerAt, randomHex } from '../../test/offers.js'
import { createPayerScheme, type PayerOptions } from '../index.js'

let net: TestNetwork
beforeAll(async () => {
  net = await startNetwork()
})
afterAll(() => net.close())

/** A payer that allows every token and amount: what stands between it and a thief is the helper alone. */
function createPayer(options: Partial<PayerOptions> = {}) {
  const { account, signed } = countSignatures(net.payer)
  const payer = createPayerScheme({
    account,
    rpcUrl: net.rpcUrl,
    network: net.network,
    allowedTokens: 'any',
    maxAmountPerPayment: 'unlimited',
    limits: { nonceHoldMsMax: 0 },
    ...options,
  })
  const pay = (helper: Address, amount = '1000') =>
    payer.createPaymentPayload(
      2,
      offerAt(Math.floor(Date.now() / 1_000), {
        asset: net.token,
        amount,
        payTo: randomHex(20),
        extra: { challengeNonce: randomHex(32), helper },
      }),
    )
  return { pay, signed }
}

type ImmutableName = keyof typeof permitBurnerRuntime.immutables

/** Our burner's code, with one word its constructor did not write. */
async function deployBurnerWith(name: ImmutableName, word: Hex): Promise<Address> {
  const code = (await net.client.getCode({ address: net.helper })) as Hex
  const from = 2 + 2 * permitBurnerRuntime.immutables[name][0]
  return net.deployRuntime(`${code.slice(0, from)}${word.slice(2)}${code.slice(from + 64)}` as Hex)
}

describe('a helper is signed for', () => {
  it('when its code is that of our burner, which is looked at once', async () => {
    const { pay, signed } = createPayer()
    await pay(net.helper)
    const seen = await callsDuring(net.chain, () => pay(net.helper))
    expect(seen.calls).not.toHaveProperty('eth_getCode')
    expect(signed.typedData).toBe(4)
  })

  it('when it is pinned and has code, whatever code that is', async () => {
    const { pay, signed } = createPayer({ allowedHelpers: [net.token] })
    await pay(net.token)
    expect(signed.typedData).toBe(2)
  })
})

describe('a helper is not signed for', () => {
  const refused = async (helper: Address, why: RegExp, options: Partial<PayerOptions> = {}) => {
    const { pay, signed } = createPayer(options)
    const error = await pay(helper, (2n ** 248n - 1n).toString()).then(
      () => expect.fail('it was signed for'),
      (thrown) => thrown,
    )
    expect(error).toMatchObject({ name: 'PayerError', code: 'offer_helper' })
    expect(error.message).toMatch(why)
    expect(signed).toEqual({ typedData: 0, transactions: 0 })
  }

  it("that is an attacker's account, for everything the payer has", () =>
    refused(net.relayer.address, /is an account without code/))

  it('that is an account without code, even when it is pinned', () =>
    refused(net.pauper.address, /without code/, { allowedHelpers: [net.pauper.address] }))

  it('that is not pinned although others are', () =>
    refused(net.helper, /rule helper: asked/, { allowedHelpers: [net.token] }))

  it('that is another contract', () => refused(net.token, /does not have the code of our SvcPermitBurner/))

  it('that is a proxy before our burner', async () => {
    const target = net.helper.slice(2).toLowerCase()
    const proxy = await net.deployRuntime(`0x363d3d373d3d3d363d73${target}5af43d82803e903d91602b57fd5bf3`)
    await refused(proxy, /does not have the code/)
  })

  it('that is an account which delegates to our burner for the time being', async () => {
    const contractAddress = net.helper
    const authorization = await net.pauper.signAuthorization({ contractAddress, chainId: 31_337, nonce: 0 })
    await net.mined(
      await net.wallet.sendTransaction({
        chain: null,
        to: net.relayer.address,
        authorizationList: [authorization],
      }),
    )
    expect(await net.client.getCode({ address: net.pauper.address })).toMatch(/^0xef0100/)
    await refused(net.pauper.address, /delegates its code/)
    await refused(net.pauper.address, /delegates its code/, { allowedHelpers: [net.pauper.address] })
  })

  it.each<ImmutableName>([
    '_cachedThis',
    '_cachedChainId',
    '_cachedDomainSeparator',
    '_hashedName',
    '_hashedVersion',
  ])('that has our code and another %s than our constructor writes', async (name) => {
    const hostile = await deployBurnerWith(name, `0x${'ab'.repeat(32)}`)
    await refused(hostile, /does not have the code/)
  })

  it('while the endpoint does not answer for its code', async () => {
    const { pay, signed } = createPayer({ limits: { rpcRetriesMax: 0 } })
    net.chain.setFaults([{ method: 'eth_getCode', kind: 'error' }])
    await expect(pay(net.helper)).rejects.toMatchObject({ code: 'chain_unavailable' })
    net.chain.setFaults([])
    expect(signed.typedData).toBe(0)
    await pay(net.helper)
  })
})
