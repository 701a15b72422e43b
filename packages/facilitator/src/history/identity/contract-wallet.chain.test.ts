import { developmentRoles, minedReceipt, startChain } from '@svc-zerc20/devnet'
import { createJsonRpc } from '@svc-zerc20/evm'
import { type Address, parseAddress, Secret } from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { createWalletClient, encodeDeployData, encodeFunctionData, type Hex, http, publicActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { hardhat } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compile, contractNamed } from '../../../../../contracts/compiler.mjs'
import { createMemoryStore } from '../../../test/store.js'
import { limits } from '../../config/limits.js'
import { createUsedNonces } from '../../store/adapters/logins.js'
import { systemRandom } from '../../system.js'
import { createTokens } from './tokens.js'
import { createWalletLogin } from './wallet-login.js'

/** In the order of the contract. */
const moods = ['honest', 'refuses', 'reverts', 'garbage', 'huge', 'spins'] as const

const owner = privateKeyToAccount(generatePrivateKey())
const { abi, evm } = contractNamed(compile(['test/support/ContractWallet.sol']), 'ContractWallet')
const url = 'http://127.0.0.1:4032'

let chain: Awaited<ReturnType<typeof startChain>>
let rpc: ReturnType<typeof createJsonRpc>
let wallet: Address
let send: (call: { to?: Address; data: Hex }) => Promise<Address | undefined>
beforeAll(async () => {
  chain = await startChain()
  rpc = createJsonRpc({
    url: chain.rpcUrl,
    timeoutMs: limits.rpcTimeoutMs,
    answerBytesMax: limits.rpcAnswerBytesMax,
  })
  const account = privateKeyToAccount(developmentRoles.deployer.privateKey)
  const client = createWalletClient({ account, chain: hardhat, transport: http(chain.rpcUrl) }).extend(
    publicActions,
  )
  send = async (call) => {
    const hash = await client.sendTransaction(call)
    const { contractAddress } = await minedReceipt(client, hash)
    return parseAddress(contractAddress)
  }
  const bytecode: Hex = `0x${evm.bytecode.object}`
  wallet = (await send({ data: encodeDeployData({ abi, bytecode, args: [owner.address] }) })) as Address
})
afterAll(async () => {
  rpc.close()
  await chain.close()
})

const setMood = (mood: (typeof moods)[number]) =>
  send({
    to: wallet,
    data: encodeFunctionData({ abi, functionName: 'setMood', args: [moods.indexOf(mood)] }),
  })

/** The payer's wallet is the contract, the provider's an account without code. */
function createLogin() {
  const participants = {
    payer: { tenant: 'acme', actor: 'buyer-7', address: wallet },
    provider: { tenant: 'shop', actor: 'till-1', address: parseAddress(`0x${'7a'.repeat(20)}`) as Address },
  }
  const settings = { identitySecret: new Secret('x'.repeat(32)), participants }
  const both = { url, clock: systemClock, random: systemRandom }
  const tokens = createTokens({ settings, ...both })
  const login = createWalletLogin({
    participants,
    chainId: chain.chainId,
    tokens,
    rpc,
    key: systemRandom.bytes(32),
    used: createUsedNonces(createMemoryStore(systemClock).store),
    ...both,
  })
  return { tokens, login }
}

async function logIn(signer = owner) {
  const { tokens, login } = createLogin()
  const { message } = login.challenge(wallet)
  const result = await login.login({ message, signature: await signer.signMessage({ message }) })
  return result.ok ? tokens.read(`Bearer ${result.value.token}`) : result
}

describe('R-143 a login by a contract wallet on a chain', () => {
  it('gets the token of its role when its owner signed', async () => {
    expect(await logIn()).toMatchObject({ ok: true, value: { role: 'payer', tenant: 'acme' } })
  })

  it('is refused when somebody else signed', async () => {
    const stranger = privateKeyToAccount(generatePrivateKey())
    expect(await logIn(stranger)).toMatchObject({ ok: false, reason: 'login_refused' })
  })

  it('is refused when the wallet refuses, reverts, says garbage, says too much or never ends', async () => {
    for (const mood of moods.slice(1)) {
      await setMood(mood)
      expect(await logIn(), mood).toMatchObject({ ok: false, reason: 'login_refused' })
    }
    await setMood('honest')
    expect(await logIn()).toMatchObject({ ok: true })
  })

  it('fails when the node is gone', async () => {
    rpc.close()
    await expect(logIn()).rejects.toMatchObject({ code: 'rpc_unreachable' })
  })
})
