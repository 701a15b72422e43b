import {
  type Address,
  concat,
  domainSeparator,
  type Hex,
  hashStruct,
  hashTypedData,
  keccak256,
  toHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { permitBurnerAbi, tokenAbi } from '../generated/index.js'
import { deployBurner, deployToken, domainOf, messagesOf, mint, signRequest } from './support/burns.js'
import { type Chain, farDeadline, startChain } from './support/chain.js'
import { stored } from './support/stored.js'

const permitType = 'Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)'
const burnAuthorizationType =
  'BurnAuthorization(address token,address payer,address burnAddress,uint256 value,bytes32 challengeNonce,uint256 deadline)'

const payerKey: Hex = `0x${'05'.repeat(32)}`
const payer = privateKeyToAccount(payerKey)
const burnAddress: Address = '0x0DEA5615eDC426120bd1e2A2b6f71E9610de1aa0'
const cases = [
  { name: 'an ordinary payment', tokenName: 'Devnet zUSD', value: 1_234_567n },
  { name: 'the largest value', tokenName: 'Devnet zUSD', value: 2n ** 248n - 1n },
  { name: 'a token name beyond ASCII', tokenName: 'zÜSD ₮', value: 1n },
]

type Outcome = Awaited<ReturnType<typeof pay>>
let burner: Address
let chain: Chain
let outcomes: Outcome[]
let committed: Outcome['vector'][]

beforeAll(async () => {
  chain = await startChain()
  burner = await deployBurner(chain)
  const tokens = new Map<string, Address>()
  outcomes = []
  for (const { name, tokenName, value } of cases) {
    const token = tokens.get(tokenName) ?? (await deployToken(chain, tokenName))
    tokens.set(tokenName, token)
    outcomes.push(await pay(name, token, value))
  }
  const file = new URL('../../test/vectors/typed-data.json', import.meta.url)
  committed = stored(
    file,
    outcomes.map(({ vector }) => vector),
  )
})

/** Signs one case, lets the contracts execute it, and writes down every hash on the way. */
async function pay(name: string, token: Address, value: bigint) {
  const { client, mined } = chain
  const atToken = { address: token, abi: tokenAbi } as const
  const atBurner = { address: burner, abi: permitBurnerAbi } as const
  await mint(chain, token, payer.address, value)
  const { permit, burnAuthorization } = messagesOf(
    await domainOf(chain, token),
    await domainOf(chain, burner),
    payer.address,
    {
      burnAddress,
      value,
      challengeNonce: keccak256(toHex(name)),
      deadline: farDeadline,
      permitNonce: await client.readContract({ ...atToken, functionName: 'nonces', args: [payer.address] }),
    },
  )
  const request = await signRequest(payer, { permit, burnAuthorization })
  await mined(await client.writeContract({ ...atBurner, functionName: 'burn', args: [request] }))

  const { message } = burnAuthorization
  const ledgerKey = [token, payer.address, burnAddress, value, message.challengeNonce] as const
  const permitStruct = hashStruct({ data: permit.message, primaryType: 'Permit', types: permit.types })
  const permitSeparator = await client.readContract({ ...atToken, functionName: 'DOMAIN_SEPARATOR' })
  return {
    executed: await client.readContract({ ...atBurner, functionName: 'executed', args: ledgerKey }),
    walletDigests: [hashTypedData(permit), hashTypedData(burnAuthorization)],
    vector: {
      name,
      payer: { privateKey: payerKey, address: payer.address },
      permit: {
        type: permitType,
        domain: permit.domain,
        message: withDecimals(permit.message),
        domainSeparator: permitSeparator,
        structHash: permitStruct,
        digest: keccak256(concat(['0x1901', permitSeparator, permitStruct])),
        signature: { v: request.v, r: request.r, s: request.s },
      },
      burnAuthorization: {
        type: burnAuthorizationType,
        domain: burnAuthorization.domain,
        message: withDecimals(message),
        domainSeparator: domainSeparator({ domain: burnAuthorization.domain }),
        structHash: hashStruct({
          data: message,
          primaryType: 'BurnAuthorization',
          types: burnAuthorization.types,
        }),
        digest: await client.readContract({
          ...atBurner,
          functionName: 'authorizationDigest',
          args: [message],
        }),
        signature: request.burnAuthSig,
      },
    },
  }
}

/** JSON has no big integers; the wire writes them as decimal strings. */
function withDecimals(message: Record<string, string | bigint>): Record<string, string> {
  return Object.fromEntries(Object.entries(message).map(([key, field]) => [key, field.toString()]))
}

test('the committed vectors are what the contracts compute', () => {
  expect(outcomes.map(({ vector }) => vector)).toEqual(committed)
})

test('R-036 the type hash of the burner is that of the published type', async () => {
  const typeHash = await chain.client.readContract({
    address: burner,
    abi: permitBurnerAbi,
    functionName: 'BURN_AUTHORIZATION_TYPEHASH',
  })
  expect(typeHash).toBe(keccak256(toHex(burnAuthorizationType)))
})

describe.each(cases.map(({ name }, index) => ({ name, index })))('$name', ({ index }) => {
  const outcome = () => {
    const found = outcomes[index]
    if (!found) throw new Error('the case did not run')
    return found
  }

  test('R-035 a wallet and the token agree on the permit', () => {
    expect(outcome().vector.permit.digest).toBe(outcome().walletDigests[0])
    expect(outcome().vector.permit.domain.version).toBe('1')
  })

  test('R-036 a wallet and the burner agree on the burn authorization', () => {
    expect(outcome().vector.burnAuthorization.digest).toBe(outcome().walletDigests[1])
    const { burnAuthorization } = outcome().vector
    const { structHash, digest } = burnAuthorization
    expect(digest).toBe(keccak256(concat(['0x1901', burnAuthorization.domainSeparator, structHash])))
  })

  test('the burner executes what was signed', () => {
    expect(outcome().executed).toBe(true)
  })
})
