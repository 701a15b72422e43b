import { decodeFunctionResult, encodeDeployData, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { burnTrialAbi, burnTrialBytecode } from '../generated/index.js'
import { deployBurner, deployToken, domainOf, messagesOf, mint, signRequest } from './support/burns.js'
import { startChain } from './support/chain.js'

/** As many as a facilitator puts into one transaction. */
const items = 50
const value = 1_000n

test(`one eth_call without an address tries ${items} burns, also when half of them fail, and changes nothing`, async () => {
  const chain = await startChain()
  const token = await deployToken(chain, 'Trial zUSD')
  const burner = await deployBurner(chain)
  const payer = privateKeyToAccount(`0x${'0c'.repeat(32)}`)
  await mint(chain, token, payer.address, (value * BigInt(items)) / 2n)
  const burnerDomain = await domainOf(chain, burner)
  const tokenDomain = { ...burnerDomain, name: 'Trial zUSD', verifyingContract: token }
  const { timestamp } = await chain.client.getBlock()
  const requests = await Promise.all(
    Array.from({ length: items }, (_, i) => {
      const burn = {
        burnAddress: numberToHex(2 ** 40 + i, { size: 20 }),
        value,
        challengeNonce: numberToHex(i, { size: 32 }),
        deadline: timestamp + 300n,
        permitNonce: BigInt(i),
      }
      return signRequest(payer, messagesOf(tokenDomain, burnerDomain, payer.address, burn))
    }),
  )
  const data = encodeDeployData({ abi: burnTrialAbi, bytecode: burnTrialBytecode, args: [burner, requests] })
  for (let round = 0; round < 2; round++) {
    const { data: answer } = await chain.client.call({ data })
    const [, , outcomes] = decodeFunctionResult({
      abi: burnTrialAbi,
      functionName: 'run',
      data: answer ?? '0x',
    })
    expect(outcomes.map(({ executed }) => executed)).toEqual(requests.map((_, i) => i < items / 2))
  }
})
