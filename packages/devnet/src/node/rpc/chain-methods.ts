import { type Hex, isHex, numberToHex } from 'viem'
import type { Engine } from '../engine.js'
import { type Faults, parseFaults } from '../faults/faults.js'
import type { ChainControl } from './chain-control.js'
import { RpcError, rpcErrorCodes } from './rpc-error.js'

type Method = (params: readonly unknown[]) => Promise<unknown>

// Methods that edit state outside of blocks.
const stateEdits = ['hardhat_setBalance', 'hardhat_setCode', 'hardhat_setNonce', 'hardhat_setStorageAt']

/** Answers any call without faults: our own methods first, all others by the engine. */
export function createChainMethods(dependencies: {
  engine: Engine
  control: ChainControl
  faults: Faults
  stats: () => unknown
}): (method: string, params: readonly unknown[]) => Promise<unknown> {
  const { engine, control, faults, stats } = dependencies
  const methods = new Map<string, Method>(
    Object.entries({ ...chainMethods(control), ...devMethods(control) }),
  )
  methods.set('dev_stats', async () => stats())
  methods.set('dev_setFaults', async ([list, options]) => faults.set(parseFaults(list), parseSeed(options)))
  methods.set('dev_clearFaults', async () => faults.set([]))
  for (const name of stateEdits) methods.set(name, (params) => engine.request(name, params))

  return async (name, params) => {
    const method = methods.get(name)
    if (method !== undefined) return (await method(params)) ?? null
    // The engine must not mine, reset or take unsigned transactions, because our mempool and history would miss it.
    if (/^(evm_|hardhat_|anvil_|dev_|eth_sendTransaction$)/.test(name)) {
      throw new RpcError(
        rpcErrorCodes.methodNotFound,
        `the method ${name} does not exist or is not available`,
      )
    }
    return control.read(() => engine.request(name, params))
  }
}

// The usual names of development nodes, so that common tools can drive this one.
function chainMethods(control: ChainControl): Record<string, Method> {
  return {
    eth_sendRawTransaction: ([raw]) => control.send(parseHex(raw, 'transaction')),
    evm_mine: async ([options]) => {
      const asked = typeof options === 'object' && options !== null ? (options as EvmMineOptions) : undefined
      const timestamp = asked === undefined ? options : asked.timestamp
      if (timestamp !== undefined) await control.setNextBlockTimestamp(parseCount(timestamp, 'timestamp'))
      await control.mine(asked?.blocks === undefined ? 1 : parseCount(asked.blocks, 'blocks'))
      return '0x0'
    },
    hardhat_mine: ([blocks]) => control.mine(blocks === undefined ? 1 : parseCount(blocks, 'blocks')),
    hardhat_dropTransaction: async ([hash]) =>
      (await control.dropPending([parseHex(hash, 'hash')])).length === 1,
    evm_snapshot: () => control.snapshot(),
    evm_revert: ([id]) => control.revert(parseHex(id, 'snapshot')),
    evm_increaseTime: async ([seconds]) =>
      numberToHex(await control.increaseTime(parseCount(seconds, 'seconds'))),
    evm_setNextBlockTimestamp: ([timestamp]) =>
      control.setNextBlockTimestamp(parseCount(timestamp, 'timestamp')),
    evm_setAutomine: async ([on]) => {
      await (on === true ? control.resumeMining() : control.pauseMining())
      return true
    },
  }
}

type EvmMineOptions = { blocks?: unknown; timestamp?: unknown }

function devMethods(control: ChainControl): Record<string, Method> {
  return {
    dev_mine: ([blocks]) => control.mine(blocks === undefined ? 1 : parseCount(blocks, 'blocks')),
    dev_pauseMining: () => control.pauseMining(),
    dev_resumeMining: () => control.resumeMining(),
    dev_dropPending: ([hashes]) =>
      control.dropPending(Array.isArray(hashes) ? hashes.map((hash) => parseHex(hash, 'hash')) : undefined),
    dev_reorg: ([depth, options]) => control.reorg(parseCount(depth, 'depth'), parseReorgOptions(options)),
  }
}

function parseReorgOptions(options: unknown): { keepTransactions: boolean } {
  const given = typeof options === 'object' && options !== null && 'keepTransactions' in options
  return { keepTransactions: given && options.keepTransactions === true }
}

function parseSeed(options: unknown): { seed?: number } {
  if (typeof options !== 'object' || options === null || !('seed' in options)) return {}
  return { seed: parseCount(options.seed, 'seed') }
}

function parseHex(value: unknown, name: string): Hex {
  if (isHex(value)) return value
  throw new RpcError(rpcErrorCodes.invalidParams, `${name}: expected a 0x string`)
}

/** Development tools send counts as numbers, as hex or as decimal strings. */
function parseCount(value: unknown, name: string): number {
  const count = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) return count
  throw new RpcError(rpcErrorCodes.invalidParams, `${name}: expected a number that is whole and not negative`)
}
