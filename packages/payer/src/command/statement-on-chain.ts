/**
 * What a chain says to a statement. The chain knows the burn, whether it could be minted, and how much was minted at all. It does
 * not know which mint was for which burn; for that there is the signature.
 */
import { verifierAbi } from '@svc-zerc20/contracts'
import {
  createJsonRpc,
  type JsonRpc,
  parseReceipt,
  quantityOf,
  resultOf,
  scanLogs,
  transfersIn,
} from '@svc-zerc20/evm'
import { type Address, Network, parseAddress, parseUrl, SvcError } from '@svc-zerc20/protocol'
import type { VerifiedStatement } from '@svc-zerc20/statement'
import { toEventSelector, toFunctionSelector } from 'viem/utils'

/** `open`: the statement does not tell enough to compare it, or it is too much work. */
export type ChainFinding = {
  readonly level: 'ok' | 'fail' | 'open'
  readonly what: 'network' | 'burn' | 'root' | 'mints'
  readonly found: string
}

const timeoutMs = 20_000
const answerBytesMax = 16 * 1024 ** 2
/** Blocks whose mints are added up, and blocks in one request. */
const blocksMax = 500_000
const spanBlocksMax = 5_000

type Compared = Pick<VerifiedStatement, 'kind' | 'claims'>

export async function compareWithChain(statement: Compared, url: string): Promise<ChainFinding[]> {
  if (!/^https?:/.test(url) || !parseUrl(url)) {
    throw new SvcError('payer_misconfigured', '--rpc expects the URL of a node')
  }
  const rpc = createJsonRpc({ url, timeoutMs, answerBytesMax })
  try {
    return await compare(statement, rpc)
  } finally {
    rpc.close()
  }
}

async function compare(statement: Compared, rpc: JsonRpc): Promise<ChainFinding[]> {
  const { network, token, burnTransaction, leafIndex, value, payer } = statement.claims
  const [answer] = await rpc.batch([{ method: 'eth_chainId', params: [] }])
  const served = quantityOf('eth_chainId', answer)
  if (served !== BigInt(Network.parseChainId(network) ?? 0)) {
    return [
      {
        level: 'fail',
        what: 'network',
        found: `the node serves chain ${served}, the statement is about ${network}`,
      },
    ]
  }
  const money = parseAddress(token)
  if (burnTransaction === undefined || money === undefined) {
    return [{ level: 'open', what: 'burn', found: 'the statement does not disclose burnTransaction' }]
  }
  const burn = await findBurn(rpc, money, { burnTransaction, leafIndex, value, payer })
  if ('level' in burn) return [burn]
  const placed = `leaf ${burn.leafIndex} with ${burn.value}, in block ${burn.blockNumber}`
  const there: ChainFinding = { level: 'ok', what: 'burn', found: placed }
  if (!saysMinted(statement)) {
    return [
      there,
      { level: 'open', what: 'mints', found: 'the statement does not say that the burn was minted' },
    ]
  }
  const verifier = await verifierOf(rpc, money)
  return [there, await judgeRoot(rpc, verifier, burn.leafIndex), await judgeMints(rpc, verifier, burn)]
}

/** A burn that is accepted and not minted yet is no lie. */
const saysMinted = ({ kind, claims }: Compared): boolean =>
  kind === 'finality' ||
  ['finalizedOn', 'finalizedAt', 'mintTransaction', 'minted'].some((name) => Object.hasOwn(claims, name))

type FoundBurn = { readonly leafIndex: bigint; readonly value: bigint; readonly blockNumber: bigint }

/**
 * The transfer that the statement means, or why it is not known. Burns of many payers share one transaction: a holder that hides
 * leaf and value must not be taken for the one with the largest.
 */
async function findBurn(
  rpc: JsonRpc,
  token: Address,
  { burnTransaction, leafIndex, value, payer }: { [name: string]: string | number | undefined },
): Promise<FoundBurn | ChainFinding> {
  const receipt = parseReceipt(await rpc.call('eth_getTransactionReceipt', [burnTransaction]))
  if (!receipt?.succeeded) return refuted(`the chain has no transaction ${burnTransaction} that succeeded`)
  const fits = transfersIn(receipt.logs, token).filter(
    (transfer) =>
      (payer === undefined || transfer.from === payer) &&
      (leafIndex === undefined || transfer.leafIndex === BigInt(leafIndex)) &&
      (value === undefined || transfer.value === BigInt(value)),
  )
  const [burn, another] = fits
  if (!burn) return refuted('the transaction has no such transfer of the token')
  if (!another) return { ...burn, blockNumber: receipt.blockNumber }
  const found = `${fits.length} transfers of the transaction fit; the statement has to disclose leafIndex`
  return { level: 'open', what: 'burn', found }
}

const refuted = (found: string): ChainFinding => ({ level: 'fail', what: 'burn', found })

async function verifierOf(rpc: JsonRpc, token: Address): Promise<Address> {
  const verifier = parseAddress(`0x${(await read(rpc, token, 'verifier()')).slice(-40)}`)
  if (verifier === undefined) throw new SvcError('rpc_error', 'the token does not tell its verifier')
  return verifier
}

async function read(rpc: JsonRpc, to: Address, signature: string): Promise<string> {
  const [answer] = await rpc.batch([
    { method: 'eth_call', params: [{ to, data: toFunctionSelector(signature) }, 'latest'] },
  ])
  return String(resultOf('eth_call', answer))
}

async function judgeRoot(rpc: JsonRpc, verifier: Address, leafIndex: bigint): Promise<ChainFinding> {
  const proved = BigInt(await read(rpc, verifier, 'latestProvedIndex()'))
  const found = `the verifier has proved ${proved} leaves`
  return { level: leafIndex < proved ? 'ok' : 'fail', what: 'root', found }
}

const mintEvents = verifierAbi
  .filter((item) => item.type === 'event')
  .filter(({ name }) => name === 'Teleport' || name === 'TeleportWithRelayerFee')
  .map((event) => ({ topic: toEventSelector(event), words: event.name === 'Teleport' ? 1 : 2 }))

/** All mints from the block of the burn on, whoever they were for. */
async function judgeMints(
  rpc: JsonRpc,
  verifier: Address,
  { value, blockNumber }: FoundBurn,
): Promise<ChainFinding> {
  const filter = { address: verifier, topics: [mintEvents.map(({ topic }) => topic)] }
  const fromBlock = Number(blockNumber)
  let [mints, sum] = [0, 0n]
  for await (const { logs, lastBlock } of scanLogs(rpc, filter, { fromBlock, spanBlocksMax })) {
    for (const { topics, data } of logs) {
      const words = mintEvents.find(({ topic }) => topic === topics[0])?.words ?? 0
      for (let word = 0; word < words; word += 1)
        sum += BigInt(`0x${data.slice(2 + word * 64, 66 + word * 64)}`)
      mints += 1
    }
    // Enough is enough, and who asks for more asks a node for every mint there is.
    if (sum >= value)
      return { level: 'ok', what: 'mints', found: `${mints} mints of ${sum} in all since the burn` }
    if (lastBlock - fromBlock > blocksMax) {
      return {
        level: 'open',
        what: 'mints',
        found: `${mints} mints of ${sum} in ${blocksMax} blocks; the rest was not read`,
      }
    }
  }
  return { level: 'fail', what: 'mints', found: `only ${sum} was minted in all since the burn` }
}
