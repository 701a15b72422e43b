/** Signs transactions of one key and hands them to the node; the node's answer is kept in the slot. */
import { type GasPrice, type JsonRpc, judgeRefusal, signTransaction } from '@svc-zerc20/evm'
import { keccak256 } from '@svc-zerc20/kernel'
import { type Address, type Clock, SvcError } from '@svc-zerc20/protocol'
import type { SendingAccount } from '../../config/secrets/sending-account.js'
import type { SignedTransaction } from '../../payment/records.js'
import type { Log } from '../../telemetry/events.js'
import {
  isPointless,
  newVersion,
  type RelayedCall,
  type SignedVersion,
  type Slot,
  versionToSend,
} from './slot.js'

export type Broadcast = ReturnType<typeof createBroadcast>

export function createBroadcast(deps: {
  rpc: Pick<JsonRpc, 'batch'>
  account: SendingAccount
  /** Names the account in the records of its transactions. */
  from: Address
  chainId: number
  clock: Clock
  report: Log
}) {
  const { rpc, account, from, chainId, clock, report } = deps
  const recording = new Set<Promise<void>>()
  let isClosed = false

  async function record(call: RelayedCall, transaction: SignedTransaction): Promise<void> {
    if (isClosed) throw new SvcError('closed', 'the relayer is not running')
    const recorded = call.recordSigned(transaction)
    recording.add(recorded)
    await recorded.finally(() => recording.delete(recorded))
  }

  function hear(slot: Slot, version: SignedVersion, refused: string | undefined): void {
    const refusal = refused === undefined ? 'known' : judgeRefusal(refused)
    // The wait for a block begins only now: time without money does not count as being stuck.
    if (slot.unfunded) slot.signedAtMs = slot.sentAtMs
    slot.unfunded = refusal === 'unfunded'
    version.isRefused = refusal === 'lasting'
    if (refusal === 'known') slot.refusals = 0
    if (refusal === 'lasting') slot.refusals += 1
    if (slot.unfunded) report({ event: 'relayer.unfunded', address: account.address })
    else if (refusal !== 'known')
      report({ event: 'relayer.send_refused', txNonce: slot.txNonce, message: `${refused}` })
  }

  return {
    /** Resolves once the call's owner has recorded the signed version, the first one or one that replaces it. */
    async sign(
      call: RelayedCall,
      txNonce: number,
      price: GasPrice,
      role: 'first' | 'replacement',
    ): Promise<SignedVersion> {
      const { to, data, gas } = call
      const transaction = { chainId, txNonce, to, data, gas, price }
      const { hash, raw } = await signTransaction(account, transaction, keccak256)
      const signed = { txNonce, hash, raw, from }
      await record(call, role === 'first' ? signed : { ...signed, isReplacement: true })
      return newVersion({ hash, raw, price }, { isEmpty: data === '0x' })
    },

    /** Never rejects: a node that does not answer may have taken the transaction all the same. */
    async send(slot: Slot): Promise<void> {
      const version = versionToSend(slot)
      // The next look uses up its txNonce instead.
      if (!version || isPointless(slot.call)) return
      slot.sentAtMs = clock.now()
      try {
        const [answer] = await rpc.batch([{ method: 'eth_sendRawTransaction', params: [version.raw] }])
        hear(slot, version, answer && 'error' in answer ? `${answer.error.message}` : undefined)
      } catch (err) {
        // The same bytes go out again, under the same txNonce.
        report({ event: 'rpc.failed', err })
      }
    },

    /** Nothing more is signed. Resolves when all that was signed stands in its owner's records, or never will. */
    async close(): Promise<void> {
      isClosed = true
      await Promise.allSettled(recording)
    },
  }
}
