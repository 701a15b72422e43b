import { Network } from '@svc-zerc20/protocol'
import { expectSame, vectorFile } from './vector-file.mjs'

const description =
  'CAIP-2 network identifiers of the eip155 family. "chainId" is what the identifier names, or null when it is none.'

const refused = ['', 'eip155', 'eip155:', 'eip155:0', 'eip155:01', 'eip155:-1', 'eip155:+1', 'eip155:1.0']
  .concat([
    'eip155:1e3',
    'eip155:0x1',
    'eip155:*',
    'eip155: 1',
    ' eip155:1',
    'eip155:1\n',
    'EIP155:1',
    'eip:1',
  ])
  .concat(['eip155:9007199254740992', 'eip155:99999999999999999999', 'base', '31337', 'eip155:1:1'])

const cases = [
  ...[1, 137, 8453, 31337, Number.MAX_SAFE_INTEGER].map((chainId) => ({
    network: `eip155:${chainId}`,
    chainId,
  })),
  ...refused.map((network) => ({ network, chainId: null })),
]

/** test/vectors/protocol/networks.json */
export function renderNetworks() {
  for (const { network, chainId } of cases) {
    expectSame(network, Network.parseChainId(network) ?? null, chainId)
    if (chainId !== null) expectSame(network, Network.format(chainId), network)
  }
  return vectorFile(description, { cases })
}
