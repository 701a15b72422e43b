// Deploys token and burner on a test chain and signs requests the way a payer's wallet does: with typed data only.
import { type Address, type Hex, hexToNumber, parseSignature, slice } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { burnAuthorizationTypes, permitTypes } from '../../../test/support/typed-data.js'
import { permitBurnerAbi, permitBurnerBytecode, tokenAbi, tokenBytecode } from '../../generated/index.js'
import type { Chain } from './chain.js'

export type Domain = {
  readonly name: string
  readonly version: string
  readonly chainId: number
  readonly verifyingContract: Address
}

/** The terms that a payer signs, without the payer itself. */
export type Burn = {
  readonly burnAddress: Address
  readonly value: bigint
  readonly challengeNonce: Hex
  readonly deadline: bigint
  readonly permitNonce: bigint
}

/** A token whose minter is the operator. */
export async function deployToken({ deploy, client, mined, operator }: Chain, name: string) {
  const token = await deploy(tokenAbi, tokenBytecode, [name, 'zUSD', 6, operator.address])
  const args = [operator.address] as const
  await mined(await client.writeContract({ address: token, abi: tokenAbi, functionName: 'setMinter', args }))
  return token
}

export const deployBurner = ({ deploy }: Chain) => deploy(permitBurnerAbi, permitBurnerBytecode, [])

export async function mint({ client, mined }: Chain, token: Address, to: Address, value: bigint) {
  const args = [to, value] as const
  await mined(await client.writeContract({ address: token, abi: tokenAbi, functionName: 'mint', args }))
}

/** The EIP-712 domain as the contract itself states it. */
export async function domainOf({ client }: Chain, address: Address): Promise<Domain> {
  const [, name, version, chainId, verifyingContract] = await client.readContract({
    address,
    abi: permitBurnerAbi,
    functionName: 'eip712Domain',
  })
  return { name, version, chainId: Number(chainId), verifyingContract }
}

/** Both typed messages of one burn, ready to sign or to hash. */
export function messagesOf(tokenDomain: Domain, burnerDomain: Domain, payer: Address, burn: Burn) {
  const { burnAddress, value, challengeNonce, deadline, permitNonce } = burn
  return {
    permit: {
      domain: tokenDomain,
      types: permitTypes,
      primaryType: 'Permit',
      message: {
        owner: payer,
        spender: burnerDomain.verifyingContract,
        value,
        nonce: permitNonce,
        deadline,
      },
    },
    burnAuthorization: {
      domain: burnerDomain,
      types: burnAuthorizationTypes,
      primaryType: 'BurnAuthorization',
      message: {
        token: tokenDomain.verifyingContract,
        payer,
        burnAddress,
        value,
        challengeNonce,
        deadline,
      },
    },
  } as const
}

/** A complete request for the burner, signed by the payer. */
export async function signRequest(payer: PrivateKeyAccount, messages: ReturnType<typeof messagesOf>) {
  const permitSignature = await payer.signTypedData(messages.permit)
  const burnAuthSig = await payer.signTypedData(messages.burnAuthorization)
  const { r, s } = parseSignature(permitSignature)
  const v = hexToNumber(slice(permitSignature, 64))
  return { authorization: messages.burnAuthorization.message, v, r, s, burnAuthSig }
}
