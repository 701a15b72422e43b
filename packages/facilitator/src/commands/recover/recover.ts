/** `svc-facilitator recover`: puts burns that the chain has and the ledger lost on record, so that the daemon mints them. */
import { availableParallelism } from 'node:os'
import { type ExitCode, exitCodes } from '@svc-zerc20/daemon'
import { readBlockAt } from '@svc-zerc20/evm'
import {
  type Address,
  type ChallengeNonce,
  SvcError,
  textTable,
  type UnixSeconds,
} from '@svc-zerc20/protocol'
import { systemClock } from '@svc-zerc20/protocol/system-clock'
import { deriveSeed } from '@svc-zerc20/zk'
import { createDeriveAddress } from '../../addresses/address-maker.js'
import { epochsBefore } from '../../addresses/epochs.js'
import { createAddressMiner } from '../../addresses/miner.js'
import { createRereadBurn } from '../../chain/reread-burn.js'
import type { Config } from '../../config/config.js'
import { limits } from '../../config/limits.js'
import type { Secrets } from '../../config/secrets/secrets.js'
import type { Mintable } from '../../payment/finalize/ports.js'
import { type ChainSide, openChainSide } from '../../start/chain-side.js'
import { wireVerifier } from '../../start/finalization.js'
import { activeLease, inUse } from '../../start/keep-leased-side.js'
import { acceptCopy, openStorage, type Storage } from '../../start/storage.js'
import { readMark } from '../../store/journal/mark.js'
import { assertAccountsKnown } from '../../store/known-accounts.js'
import type { Log } from '../../telemetry/events.js'
import { createTelemetry, type Telemetry } from '../../telemetry/telemetry.js'
import { createBurnSearch, inParts } from './burn-search.js'
import { type FindBurnsDeps, type FoundBurn, findBurns, type NonceAndValue } from './find-burns.js'

export type RecoverOptions = {
  readonly config: Config
  readonly secrets: Secrets
  readonly log: Log
  /** Goes on with a ledger that is not the newest. */
  readonly isCopyAccepted: boolean
  /** Challenge nonces of self-transfers whose records are lost. */
  readonly nonces: readonly ChallengeNonce[]
  /** Ids of earlier ledgers whose journals are lost, and which made addresses of epochs. */
  readonly ledgerIds: readonly string[]
  /** Proofs of work that were configured in the past. */
  readonly powBits: readonly number[]
  readonly say: (line: string) => void
}

type Recovery = RecoverOptions & {
  readonly storage: Storage
  readonly chainSide: ChainSide
  /** The account that sends burns. */
  readonly relayer: Address
  readonly seed: Uint8Array
  readonly telemetry: Telemetry
}

/** May be killed and run again at any time: a burn that is on record is not found again. */
export async function recoverBurns(options: RecoverOptions): Promise<readonly FoundBurn[]> {
  const { config, secrets, isCopyAccepted } = options
  const clock = systemClock
  const telemetry = createTelemetry({ log: options.log })
  const { log } = telemetry
  const seed = deriveSeed(secrets.treasuryKey.reveal())
  // The mark outlives a lost journal. Opening a new one replaces it.
  const marked = readMark(config.settlement.journal)?.id
  const storage = await openStorage({
    config,
    clock,
    log,
    seed,
    password: secrets.storagePassword,
    isCopyAccepted,
  })
  try {
    const chainSide = await openChainSide({ config, secrets, clock, telemetry })
    const nothing = async () => undefined
    const { relayer, minter } = chainSide.openSenders({ recordEmpty: nothing })
    const { rpc } = chainSide
    try {
      if (!(await storage.store.leases.take(activeLease))) throw inUse()
      if (storage.isCopy) await acceptCopy(storage, rpc, log, isCopyAccepted)
      await assertAccountsKnown({ storage, relayer, minter })
      const made =
        config.finalize.mode === 'batch' ? [storage.id, ...(marked === undefined ? [] : [marked])] : []
      const ledgerIds = [...new Set([...options.ledgerIds, ...made])]
      return await find({
        ...options,
        ledgerIds,
        storage,
        chainSide,
        seed,
        telemetry,
        relayer: relayer.address,
      })
    } finally {
      await Promise.all([relayer.close(), minter?.close()])
      rpc.close()
    }
  } finally {
    telemetry.close()
    await storage.close()
  }
}

async function find(recovery: Recovery): Promise<readonly FoundBurn[]> {
  const { config, storage, chainSide, seed, telemetry, say } = recovery
  const { network, settlement, zerc20 } = config
  const minedAt = (blockNumber: bigint) => timeOf(chainSide, blockNumber)
  const tokenSince = await minedAt(BigInt(network.deployed_block))
  const miner = createAddressMiner({ threads: availableParallelism() })
  const deps: FindBurnsDeps = {
    ledger: storage.ledger,
    search: createBurnSearch({
      ...chainSide,
      ...limits,
      token: network.token,
      helper: settlement.permit_burner,
      fromBlock: network.deployed_block,
    }),
    reread: createRereadBurn(chainSide),
    derive: createDeriveAddress(miner, seed, config),
    epochsBefore: epochsBefore(config, recovery.ledgerIds, tokenSince),
    // All smaller values together cost no more than the one that is configured.
    otherPowBits: [
      ...recovery.powBits,
      ...Array.from({ length: zerc20.pow_bits }, (_, i) => zerc20.pow_bits - 1 - i),
    ],
    relayer: recovery.relayer,
    areMinted: mintedBy(recovery),
    treasury: settlement.treasury,
    minedAt,
    clock: systemClock,
    report: telemetry.log,
    derivedAtOnceMax: limits.derivedAtOnceMax,
    say,
  }
  return findBurns(deps, recovery.nonces).finally(() => miner.close())
}

async function timeOf({ rpc }: ChainSide, blockNumber: bigint): Promise<UnixSeconds> {
  const block = await readBlockAt(rpc, blockNumber)
  if (!block) throw new SvcError('node_behind', `the node has no block ${blockNumber}`)
  return block.time
}

/** Asks the verifier by the value that a mint reveals, which follows from nonce and treasury alone. */
function mintedBy({ config, chainSide, seed }: Recovery): FindBurnsDeps['areMinted'] {
  const verifier = wireVerifier(config, chainSide, seed)
  const { treasury } = config.settlement
  const toPayment = ({ nonce, value }: NonceAndValue): Mintable => ({
    challenge: { nonce, treasury, powNonce: 0 },
    burn: { value },
  })
  return async (burns) => {
    const minted: boolean[] = []
    for (const some of inParts(burns, limits.paymentsPerRoundMax)) {
      const states = await verifier.mintStates(some.map(toPayment))
      minted.push(...states.map((state) => state === 'minted'))
    }
    return minted
  }
}

/** Exit code 1 when a burn of ours cannot be minted with what is known here. */
export const exitCodeOf = (found: readonly FoundBurn[]): ExitCode =>
  found.every(({ isRecorded }) => isRecorded) ? exitCodes.ok : exitCodes.mistake

const underived =
  'our relayer sent it, and its address derives from nothing here: name the old zerc20.pow_bits with --pow-bits, or run ' +
  'recover with the treasury key and settlement.treasury of its day'

/** The findings, for people and for scripts. */
export function printRecovery(found: readonly FoundBurn[], { json }: { readonly json: boolean }): string {
  const burns = found.map(({ nonce, txHash, value, source, isRecorded }) => ({
    challengeNonce: nonce,
    transaction: txHash,
    value: `${value}`,
    source,
    state: isRecorded ? 'recorded' : 'failed',
    ...(!isRecorded && { reason: underived }),
  }))
  const failed = burns.filter(({ reason }) => reason !== undefined).length
  const totals = { found: burns.length, recorded: burns.length - failed, failed }
  if (json) return `${JSON.stringify({ ...totals, burns }, undefined, 2)}\n`
  const head = ['challenge nonce', 'burn', 'value', 'source', 'state', '']
  const table = burns.length === 0 ? '' : textTable([head, ...burns.map((burn) => Object.values(burn))])
  const next = totals.recorded > 0 ? '; start the daemon, which mints them' : ''
  return `${table}${totals.found} found: ${totals.recorded} recorded, ${failed} failed${next}\n`
}
