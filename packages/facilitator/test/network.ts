/** A chain with contracts and a facilitator in this process, and helpers that act as payers and resource servers. */
import { permitBurnerAbi } from '@svc-zerc20/contracts'
import {
  type Chain,
  developmentRoles,
  devnetToken,
  type LocalNetworkOptions,
  startLocalNetwork,
} from '@svc-zerc20/devnet'
import { type Address, custom, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { movableClock } from '../../../test/support/clocks.js'
import { lightArtifacts } from '../../../test/support/light-artifacts.js'
import { type End, passTime } from '../../../test/support/pass-time.js'
import { createTokenClient } from '../../../test/support/token-client.js'
import { until } from '../../../test/support/until.js'
import { bodyOf, type ChallengeOffer, type PermitChanges, signPermit } from './payment.js'

export type Answer<T = Record<string, unknown>> = {
  status: number
  headers: Headers
  text: string
  body: T
}
export type SettleBody = {
  success: boolean
  errorReason?: string
  errorMessage?: string
  transaction: string
  network: string
  payer?: string
  extra?: { phase: string }
}
export type VerifyBody = { isValid: boolean; invalidReason?: string; invalidMessage?: string; payer?: string }

export type TestNetwork = Awaited<ReturnType<typeof startNetwork>>

/**
 * With `chain`, that one is used, and `rpcUrl` says how the facilitator reaches it. With `daemon`, the facilitator is
 * its own process, whose clock cannot be moved. Unless `waitsForAddress` is false, the first burn address is ready
 * when this resolves. Proofs are of light circuits.
 */
export async function startNetwork({
  chain: given,
  daemon = false,
  waitsForAddress = true,
  ...options
}: Omit<LocalNetworkOptions, 'inProcess'> & {
  chain?: Chain
  daemon?: boolean
  waitsForAddress?: boolean
} = {}) {
  const clock = movableClock()
  // Transfers are followed rarely by default, so that tests can count requests to the node.
  const { daemon: daemonKeys, ...tables } = (options.config ?? {}) as { daemon?: object }
  const config = { ...tables, daemon: { follow_interval_ms: 3_600_000, ...daemonKeys } }
  const local = await startLocalNetwork({
    powBits: 1,
    gatherMs,
    ...(options.finalization && { artifacts: await lightArtifacts() }),
    ...options,
    config,
    ...(!daemon && { inProcess: { clock } }),
  })
  const { deployment, facilitatorUrl } = local
  const chain = given ?? local.chain
  if (!chain) throw new Error('the embedded chain did not start')
  // Without HTTP, so that the node counts only the facilitator's requests.
  const transport = custom({ request: ({ method, params }) => chain.request(method, params) })
  const tokenClient = createTokenClient(local, transport)
  const { client, walletOf, receiptOf, permitNonce } = tokenClient

  async function send(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(`${facilitatorUrl}${path}`, init)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: parseJson(text) }
  }
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })

  /** With the operator's token. */
  const admin = (path: string, method = 'GET') =>
    send(`/admin${path}`, { method, headers: { authorization: `Bearer ${local.adminToken}` } })

  const addresses = async () =>
    ((await admin('/status')).body as { addresses: { ready: number; target: number } }).addresses
  // On a busy machine the miner starts later than a caller of `/challenge` waits.
  if (waitsForAddress) await until(async () => (await addresses()).ready > 0)

  /** The faucet may still be polling, so a test that counts requests waits until nobody asks. */
  const { stats } = chain
  async function quiet(): Promise<void> {
    let seen = -1
    while (seen !== stats().httpRequests) {
      seen = stats().httpRequests
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }

  /** Sends a transaction and waits for its receipt, whatever its status. */
  async function transact(
    account: PrivateKeyAccount,
    call: { to: Address; data?: Hex; value?: bigint; gas?: bigint },
  ) {
    const hash = await walletOf(account).sendTransaction({ gas: 500_000n, ...call })
    return receiptOf(hash)
  }

  const permitFor = async (offer: ChallengeOffer, account: PrivateKeyAccount, changes: PermitChanges = {}) =>
    signPermit(offer, account, {
      tokenName: devnetToken.name,
      nonce: changes.nonce ?? (await permitNonce(changes.payer ?? account.address)),
      ...changes,
    })

  async function challenge(amount = '1000'): Promise<ChallengeOffer> {
    const { status, text, body } = await post('/challenge', { amount })
    if (status !== 200) throw new Error(`/challenge answered ${status}: ${text}`)
    return body as ChallengeOffer
  }

  /** A challenge and a good permit payload for it. */
  async function permitPayment(account: PrivateKeyAccount, amount?: string, changes: PermitChanges = {}) {
    const offer = await challenge(amount)
    const payload = await permitFor(offer, account, changes)
    return { offer, payload, body: bodyOf(offer, payload) }
  }

  return {
    ...local,
    ...tokenClient,
    chain,
    clock,
    send,
    post,
    transact,
    permitFor,

    challenge,
    permitPayment,

    /**
     * One payment for each account, all at once. A caller that takes more than three times what it leaves waits for
     * the miner, and may be refused. So the pool is large enough, and filled far enough, before anyone asks.
     */
    async permitPayments(
      accounts: readonly PrivateKeyAccount[],
      amount?: string,
      changes: PermitChanges = {},
    ) {
      await until(
        async () => {
          const { ready, target } = await addresses()
          if (accounts.length > target - target / 4) throw new Error(`${target} addresses are too few`)
          return accounts.length <= ready - target / 4
        },
        { everyMs: rarelyMs },
      )
      return Promise.all(accounts.map((account) => permitPayment(account, amount, changes)))
    },

    passTime: (stepMs: number, end: End) =>
      passTime({ clock, chain, nodeUrl: options.rpcUrl ?? chain.rpcUrl }, stepMs, end),

    verify: (body: unknown) => post('/verify', body) as Promise<Answer<VerifyBody>>,
    settle: (body: unknown) => post('/settle', body) as Promise<Answer<SettleBody>>,
    status: (nonce: string) => send(`/payments/${nonce}`),

    admin,

    /** The phase as the operator sees it, because only the operator sees finality. */
    async phaseOf(nonce: string): Promise<unknown> {
      const { body } = await admin(`/payments/${nonce}`)
      return (body.payment as { phase?: unknown } | undefined)?.phase
    },

    /** Burns of a challenge, from the permit burner's events. */
    async burnsOf(challengeNonce: Hex) {
      return client.getContractEvents({
        address: deployment.permitBurner,
        abi: permitBurnerAbi,
        eventName: 'BurnExecuted',
        args: { challengeNonce },
        fromBlock: 0n,
      })
    },

    /** Number of HTTP requests to the node while `task` ran. */
    async nodeRequestsDuring(task: () => Promise<unknown>): Promise<number> {
      await quiet()
      const before = chain.stats().httpRequests
      await task()
      return chain.stats().httpRequests - before
    },

    /** Receipts of everything the relayer ever sent. */
    async relayerReceipts() {
      const relayer = developmentRoles.relayer.address.toLowerCase()
      const head = Number(await client.getBlockNumber())
      const receipts = []
      for (let number = 0; number <= head; number++) {
        const block = await client.getBlock({ blockNumber: BigInt(number), includeTransactions: true })
        for (const transaction of block.transactions) {
          if (transaction.from.toLowerCase() === relayer) {
            receipts.push(await client.getTransactionReceipt({ hash: transaction.hash }))
          }
        }
      }
      return receipts
    },
  }
}

/** Payments that a test makes one after the other share a root: its proof takes longer than this. */
const gatherMs = 3_000

/** Pause between two polls, so that polling leaves the processor time to mine addresses. */
const rarelyMs = 100

function parseJson(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}
