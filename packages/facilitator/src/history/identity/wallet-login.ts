/** Wallet login: a participant signs a message of ours with its configured wallet and gets a token. */
import type { JsonRpc } from '@svc-zerc20/evm'
import {
  type Address,
  type Clock,
  parseHex,
  parseSignature,
  type Result,
  reject,
  type UnixSeconds,
  unixSeconds,
} from '@svc-zerc20/protocol'
import type { Hex } from 'viem'
import { hashMessage, hexToBytes } from 'viem/utils'
import { signerOfDigest, splitSignature } from '../../chain/signers/signers.js'
import { limits } from '../../config/limits.js'
import { type HistorySettings, type ParticipantRole, participantRoles } from '../../config/secrets/history.js'
import type { UsedNonces } from '../../store/adapters/logins.js'
import { createContractWallets } from './contract-wallets.js'
import { expiryOf, type LoginMessage, placeOf, readMessage, writeMessage } from './login-message.js'
import { createLoginNonces } from './login-nonces.js'
import type { IssuedToken, Tokens } from './tokens.js'

export type LoginChallenge = { readonly message: string; readonly expiresAt: UnixSeconds }

export type LoginAnswer = { readonly message: string; readonly signature: string }

export type WalletLogin = {
  /** The same for every address, so that nobody learns which ones are configured. Costs no memory. */
  challenge(address: Address): LoginChallenge
  /**
   * A token for the participant whose wallet signed the message. A message works once. A refusal that could
   * tell a stranger which addresses are configured is always `login_refused`, after the same work.
   */
  login(answer: LoginAnswer): Promise<Result<IssuedToken>>
}

export function createWalletLogin(deps: {
  /** Both with an address. */
  readonly participants: HistorySettings['participants']
  /** The address of this facilitator as participants use it. */
  readonly url: string
  readonly chainId: number
  readonly tokens: Pick<Tokens, 'issue'>
  readonly rpc: Pick<JsonRpc, 'batch'>
  readonly clock: Pick<Clock, 'now'>
  readonly random: { bytes(length: number): Uint8Array }
  /** Makes the nonces. The same at all daemons that share the used ones. */
  readonly key: Uint8Array
  readonly used: UsedNonces
}): WalletLogin {
  const { participants, tokens, clock, used } = deps
  const place = placeOf(deps.url, deps.chainId)
  const nowSeconds = () => unixSeconds(clock)
  const nonces = createLoginNonces(deps)
  const roleOf = (address: Address) => participantRoles.find((role) => participants[role].address === address)
  const isSignedBy = createSignatureCheck(deps)

  /** A writer of the same message with any nonce. */
  const writerOf = (message: Omit<LoginMessage, 'nonce'>) => (nonce: string) =>
    writeMessage(place, { ...message, nonce })

  /** The role whose wallet signed, for a nonce that this caller alone has. */
  async function admit({ address }: LoginMessage, answer: LoginAnswer, signature: Hex) {
    const isSigned = await isSignedBy(address, answer.message, signature)
    if (isSigned === 'busy') return reject('too_many_requests', busyMessage)
    const role = roleOf(address)
    return isSigned && role ? { ok: true as const, role } : reject('login_refused')
  }

  return {
    challenge(address) {
      const message = { address, issuedAt: nowSeconds() }
      const write = writerOf(message)
      return { message: write(nonces.issue(write)), expiresAt: expiryOf(message) }
    },

    async login(answer) {
      const signature = signatureIn(answer)
      const message = signature && readMessage(place, answer.message)
      if (!message) return reject('login_malformed')
      const { nonce } = message
      if (!nonces.isOurs(nonce, writerOf(message))) return reject('login_unknown')
      if (nowSeconds() >= expiryOf(message)) return reject('login_expired')
      const taking = await used.take(nonce, expiryOf(message), message.address)
      if (taking === 'used') return reject('login_reused')
      let role: ParticipantRole | undefined
      try {
        const verdict = await admit(message, answer, signature)
        if (!verdict.ok) return verdict
        // Told to the wallet itself only: to others it would tell that the wallet is a configured one.
        if (taking === 'full') return reject('too_many_requests', busyMessage)
        role = verdict.role
        return { ok: true, value: await tokens.issue(role) }
      } finally {
        if (!role && taking === 'taken') await used.giveBack(nonce)
      }
    },
  }
}

const busyMessage = 'Too many wallets log in right now; try again in a few seconds.'

/** Contract wallets have signatures of any form; 4 KiB are several dozen owners. */
const signatureCharactersMax = 2 + 2 * 4_096

const signatureIn = ({ signature }: LoginAnswer): Hex | undefined =>
  signature.length > signatureCharactersMax ? undefined : parseHex(signature)

/**
 * Checks a signature by its key, and where that fails by the wallets on chain. The wallets that are asked are always
 * the configured ones, never one that a stranger names.
 */
function createSignatureCheck(
  deps: Pick<Parameters<typeof createWalletLogin>[0], 'participants' | 'rpc' | 'clock'>,
): (address: Address, message: string, signature: Hex) => Promise<boolean | 'busy'> {
  const addresses = participantRoles
    .map((role) => deps.participants[role].address)
    .filter((address) => address !== undefined)
  const wallets = createContractWallets({ rpc: deps.rpc, addresses, clock: deps.clock })
  let asking = 0
  return async (address, message, signature) => {
    const digest = hashMessage(message)
    const keyed = parseSignature(signature)
    if (keyed && signerOfDigest(hexToBytes(digest), splitSignature(keyed)) === address) return true
    if (asking >= limits.walletCallsInFlightMax) return 'busy'
    asking += 1
    try {
      return (await wallets.walletsThatAccept(digest, signature)).includes(address)
    } finally {
      asking -= 1
    }
  }
}
