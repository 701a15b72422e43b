/**
 * A payer written from the description of the service alone. It shares no code with this repository: it uses viem and
 * `fetch`, and everything it needs of x402, the token and the permit burner is below.
 */
import {
  type Account,
  type Address,
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  parseAbi,
  parseSignature,
} from 'viem'

export type IndependentPayment = {
  readonly status: number
  readonly body: string
  readonly payTo: Address
  readonly amount: bigint
  /** The SettleResponse, if the payment reached settle. */
  readonly settled: Record<string, unknown> | undefined
  /** The reason of a fresh 402, if one came instead. */
  readonly error: unknown
}

type Requirements = {
  scheme: string
  network: string
  asset: Address
  amount: string
  payTo: Address
  extra: { challengeNonce: Hex; expiresAt: number; helper?: Address; deadline?: number }
}
type Signer = Account & { type: 'local' }

const tokenAbi = parseAbi([
  'function name() view returns (string)',
  'function nonces(address owner) view returns (uint256)',
  'function transfer(address to, uint256 value) returns (bool)',
])

const permitTypes = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const

const burnTypes = {
  BurnAuthorization: [
    { name: 'token', type: 'address' },
    { name: 'payer', type: 'address' },
    { name: 'burnAddress', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'challengeNonce', type: 'bytes32' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const

/** Requests the URL, pays the offer of its 402 in the given shape, and requests it again. */
export async function payIndependently(options: {
  url: string
  account: Signer
  rpcUrl: string
  shape: 'permit' | 'self-transfer'
}): Promise<IndependentPayment> {
  const { url, account, rpcUrl, shape } = options
  const offered = await fetch(url)
  if (offered.status !== 402) throw new Error(`expected 402, got ${offered.status}`)
  const demand = decode(offered, 'PAYMENT-REQUIRED') as
    | { x402Version: number; accepts: Requirements[] }
    | undefined
  const accepted = demand?.accepts.find(({ scheme }) => scheme === 'svc-zerc20')
  if (demand?.x402Version !== 2 || accepted === undefined) throw new Error('no svc-zerc20 offer of x402 v2')
  if (accepted.extra.expiresAt * 1000 <= Date.now()) throw new Error('the offer has expired')

  const payload =
    shape === 'permit'
      ? await signPermit(accepted, account, rpcUrl)
      : await transfer(accepted, account, rpcUrl)
  const payment = { x402Version: 2, accepted, payload }
  const response = await fetch(url, { headers: { 'PAYMENT-SIGNATURE': encode(payment) } })
  return {
    status: response.status,
    body: await response.text(),
    payTo: accepted.payTo,
    amount: BigInt(accepted.amount),
    settled: decode(response, 'PAYMENT-RESPONSE'),
    error: decode(response, 'PAYMENT-REQUIRED')?.error,
  }
}

/** Shape A: two signatures, no transaction. */
async function signPermit(
  { asset, amount, payTo, network, extra }: Requirements,
  account: Signer,
  rpcUrl: string,
) {
  const { challengeNonce, helper, deadline } = extra
  if (helper === undefined || deadline === undefined) throw new Error('the gasless path is not offered')
  if (account.signTypedData === undefined) throw new Error('the account cannot sign')
  const client = createPublicClient({ transport: http(rpcUrl) })
  const token = { address: asset, abi: tokenAbi } as const
  const name = await client.readContract({ ...token, functionName: 'name' })
  const nonce = await client.readContract({ ...token, functionName: 'nonces', args: [account.address] })
  const chainId = chainIdOf(network)
  const value = BigInt(amount)
  const permit = await account.signTypedData({
    domain: { name, version: '1', chainId, verifyingContract: asset },
    types: permitTypes,
    primaryType: 'Permit',
    message: { owner: account.address, spender: helper, value, nonce, deadline: BigInt(deadline) },
  })
  const burnAuthSig = await account.signTypedData({
    domain: { name: 'SvcPermitBurner', version: '1', chainId, verifyingContract: helper },
    types: burnTypes,
    primaryType: 'BurnAuthorization',
    message: {
      token: asset,
      payer: account.address,
      burnAddress: payTo,
      value,
      challengeNonce,
      deadline: BigInt(deadline),
    },
  })
  const { r, s, yParity } = parseSignature(permit)
  return {
    challengeNonce,
    payer: account.address,
    permit: { value: amount, nonce: `${nonce}`, deadline: `${deadline}`, v: 27 + yParity, r, s },
    burnAuthSig,
  }
}

/** Shape B: an ordinary transfer to the burn address, confirmed before it is shown. */
async function transfer({ asset, amount, payTo, extra }: Requirements, account: Signer, rpcUrl: string) {
  const transport = http(rpcUrl)
  const wallet = createWalletClient({ account, transport })
  const burnTxHash = await wallet.writeContract({
    chain: null,
    address: asset,
    abi: tokenAbi,
    functionName: 'transfer',
    args: [payTo, BigInt(amount)],
  })
  const client = createPublicClient({ transport, pollingInterval: 100 })
  // Looking for a replacement can hide the block from the wait, and here nobody replaces the burn.
  const { status } = await client.waitForTransactionReceipt({ hash: burnTxHash, checkReplacement: false })
  if (status !== 'success') throw new Error(`the burn ${burnTxHash} reverted`)
  return { challengeNonce: extra.challengeNonce, burnTxHash }
}

const chainIdOf = (network: string) => Number(network.replace(/^eip155:/, ''))

const encode = (value: unknown) => Buffer.from(JSON.stringify(value), 'utf8').toString('base64')

function decode({ headers }: Response, name: string): Record<string, unknown> | undefined {
  const header = headers.get(name)
  return header === null ? undefined : JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
}
