/** Signs transactions of one key and hands them to the node; what the node says to that is kept in the slot. */
import { parseTxHash, SvcError } from '@svc-zerc20/protocol'
import { keccak256 } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Clock } from '../payment/ports.js'
import type { Fee } from './fees.js'
import type { JsonRpc } from './json-rpc.js'
import type { RelayerEvent } from './relayer.js'
import type { Form, RelayedCall, Slot } from './relayer-slot.js'

export type Sender = {
  /** Resolves once the call's owner has recorded the signed form. */
  sign(call: RelayedCall, nonce: number, fee: Fee): Promise<Form>
  /** Never rejects: a node that does not answer may have taken the transaction all the same. */
  send(slot: Slot): Promise<void>
}

export function createSender(deps: {
  rpc: Pick<JsonRpc, 'batch'>
  account: PrivateKeyAccount
  chainId: number
  clock: Clock
  report: (event: RelayerEvent) => void
}): Sender {
  const { rpc, account, clock, report } = deps

  function hearRefusal(slot: Slot, message: string): void {
    // Known already, or mined meanwhile: the receipt will tell.
    if (/already ?known|known transaction|already imported|nonce too low/i.test(message)) return
    if (/insufficient funds|doesn't have enough funds/i.test(message)) {
      slot.unfunded = true
      report({ event: 'relayer.unfunded', address: account.address })
    } else report({ event: 'relayer.send_refused', nonce: slot.nonce, message })
  }

  return {
    async sign(call, nonce, fee) {
      const { to, data, gas } = call
      const transaction = { type: 'eip1559', chainId: deps.chainId, nonce, to, data, gas, ...fee } as const
      const raw = await account.signTransaction(transaction)
      const hash = parseTxHash(keccak256(raw))
      if (hash === undefined) throw new SvcError('relayer_failed', 'a signed transaction has no hash')
      await call.recordSigned({ nonce, hash, raw })
      return { hash, raw, fee }
    },

    async send(slot) {
      const form = slot.forms.at(-1)
      if (!form) return
      slot.sentAtMs = clock.now()
      try {
        const [answer] = await rpc.batch([{ method: 'eth_sendRawTransaction', params: [form.raw] }])
        const refusal = answer && 'error' in answer ? answer.error : undefined
        // Only now it waits for a block: the time without money does not count as being stuck.
        if (slot.unfunded) slot.signedAtMs = slot.sentAtMs
        slot.unfunded = false
        if (refusal) hearRefusal(slot, `${refusal.message}`)
      } catch (err) {
        // The same bytes go out again, under the same nonce.
        report({ event: 'rpc.failed', err })
      }
    },
  }
}
