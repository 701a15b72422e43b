import type { Chain } from '@svc-zerc20/devnet'
import { beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../../../test/support/until.js'
import { startTestRelayer, useChain } from '../../../test/relayer.js'
import type { SignedTransaction } from '../../payment/records.js'
import { createMintSender } from './mint-sender.js'
import type { RelayedCall } from './slot.js'

let chain: Chain
const { chain: started, onEnd } = useChain()
beforeAll(() => {
  chain = started()
})

async function startAccount(options: Omit<Parameters<typeof startTestRelayer>[0], 'chain'> = {}) {
  const account = await startTestRelayer({ chain, ...options })
  onEnd(() => account.relayer.close())
  return account
}

/** A mint, as the ledger records it. */
function mintCall(written: SignedTransaction[]): RelayedCall {
  const to = '0x00000000000000000000000000000000000000aa' as RelayedCall['to']
  const recordSigned = async (transaction: SignedTransaction) => void written.push(transaction)
  return { purpose: 'mint', to, data: '0xa1', gas: 50_000n, recordSigned }
}

/** A run that signs a mint and ends before the node has taken it. */
async function interrupted(ownKey: boolean) {
  const [relayer, minter] = [await startAccount(), await startAccount()]
  const sender = createMintSender({
    relayer: relayer.relayer,
    minter: ownKey ? minter.relayer : undefined,
  })
  const written: SignedTransaction[] = []
  chain.setFaults([{ method: 'eth_sendRawTransaction', kind: 'httpStatus', status: 503 }])
  void sender.submit(mintCall(written))
  await until(() => written.length === 1)
  for (const { relayer: account } of [relayer, minter]) account.close()
  chain.setFaults([])
  return { relayer: relayer.account, minter: minter.account, written }
}

describe('the account that sends mints', () => {
  it('is the relayer where the minter has no key, and its records name it', async () => {
    const { relayer } = await startAccount()
    const sender = createMintSender({ relayer, minter: undefined })
    const written: SignedTransaction[] = []
    expect((await sender.submit(mintCall(written))).kind).toBe('mined')
    expect([sender.address, written[0]?.from]).toEqual([relayer.address, relayer.address])
  })

  it('has txNonces of its own, and its records name it', async () => {
    const [relayer, minter] = [await startAccount(), await startAccount()]
    const sender = createMintSender({ relayer: relayer.relayer, minter: minter.relayer })
    const written: SignedTransaction[] = []
    expect((await sender.submit(mintCall(written))).kind).toBe('mined')
    expect(written).toMatchObject([{ txNonce: 0, from: minter.relayer.address }])
    expect([await relayer.relayer.minedCount(), await minter.relayer.minedCount()]).toEqual([0, 1])
  })

  it('sends the same bytes again after a crash, from the key that signed them', async () => {
    const before = await interrupted(true)
    const relayer = await startAccount({ account: before.relayer })
    const minter = await startAccount({ account: before.minter, started: false })
    const sender = createMintSender({ relayer: relayer.relayer, minter: minter.relayer })
    const end = await sender.resume({ ...mintCall(before.written), versions: [...before.written] })
    expect(end).toMatchObject({ kind: 'mined', receipt: { transactionHash: before.written[0]?.hash } })
    expect(await relayer.relayer.minedCount()).toBe(0)
  })

  it('goes on with a mint of the relayer when a minter was given a key meanwhile', async () => {
    const before = await interrupted(false)
    const relayer = await startAccount({ account: before.relayer, started: false })
    const minter = await startAccount()
    const sender = createMintSender({ relayer: relayer.relayer, minter: minter.relayer })
    const end = await sender.resume({ ...mintCall(before.written), versions: [...before.written] })
    expect(end).toMatchObject({ kind: 'mined', receipt: { transactionHash: before.written[0]?.hash } })
    expect(await minter.relayer.minedCount()).toBe(0)
  })

  it.each(['another key', 'no key'])(
    'gives up a mint that a lost key signed, with %s now, and signs nothing for its txNonce',
    async (now) => {
      const before = await interrupted(true)
      const relayer = await startAccount({ account: before.relayer })
      const other = await startAccount()
      const sender = createMintSender({
        relayer: relayer.relayer,
        minter: now === 'another key' ? other.relayer : undefined,
      })
      const written: SignedTransaction[] = []
      const earlier = { ...mintCall(written), versions: [...before.written] }
      expect(await sender.resume(earlier)).toEqual({ kind: 'displaced', why: 'foreign' })
      // The payment is minted by a new transaction.
      expect((await sender.submit(mintCall(written))).kind).toBe('mined')
      expect(written).toHaveLength(1)
    },
  )
})
