import { randomBytes } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { lockJournal } from '@svc-zerc20/facilitator'
import { SvcError } from '@svc-zerc20/protocol'
import { developmentRoles } from '../node/accounts.js'
import { writeCommands } from './commands-folder.js'
import type { FacilitatorProcess } from './facilitator-part.js'

/** Routes of the example shop, with prices in base units. */
export const shopRoutes = {
  cheap: { path: '/cheap', price: '1000' },
  dear: { path: '/dear', price: '250000' },
} as const

/** The file that describes a running devnet to other tools. Its keys are public development keys. */
export type NetworkFile = {
  readonly rpcUrl: string
  readonly chainId: number
  readonly token: string
  readonly helper: string
  readonly verifier: string
  readonly hub: string
  readonly facilitatorUrl: string
  /** The daemons behind that URL; absent when there is one. */
  readonly facilitators?: readonly FacilitatorProcess[] | undefined
  readonly shopUrl: string
  /** The shop for a browser, with a development wallet; absent without a shop. */
  readonly storefrontUrl?: string | undefined
  readonly indexerUrl: string
  readonly deciderUrl: string
  readonly controlUrl: string
  readonly adminToken: string
  readonly configFile: string
  /** Folder of the proving keys; absent when nothing is finalized. */
  readonly artifacts: string | undefined
  /** Payments are minted together. */
  readonly isBatch: boolean
  /** The contract that divides what is minted; absent unless the fee is split. */
  readonly splitter: string | undefined
  /** Variables of the payment history, as a file; absent unless one is kept. */
  readonly historyEnvFile: string | undefined
  readonly accounts: Readonly<
    Record<
      'payer' | 'treasury' | 'relayer' | 'provider' | 'feeRecipient',
      { readonly address: string; readonly privateKey: string }
    >
  >
  readonly routes: Readonly<Record<'cheap' | 'dear', { readonly path: string; readonly price: string }>>
  /** The process that removes this file at its end. */
  readonly pid: number
}

const names = { forPrograms: 'network.json', forShells: 'env' } as const

/** Most base units that the payer of the shell may spend: on one payment, and in all. */
const payerCaps = { perPayment: '1000000', total: '50000000' } as const

/** Writes the file for programs, and beside it the variables for a shell. Returns the path of the first. */
export function writeNetworkFile(
  { directory, payerState }: { readonly directory: string; readonly payerState: string },
  network: Omit<NetworkFile, 'accounts' | 'routes'>,
): string {
  const { payer, treasury, relayer, provider, feeRecipient } = developmentRoles
  const accounts = { payer, treasury, relayer, provider, feeRecipient }
  const content: NetworkFile = { ...network, accounts, routes: shopRoutes }
  writeWhole(
    join(directory, names.forShells),
    `${shellVariables(content, payerState)}# svc-pay, svc-facilitator and svc-indexer\nPATH='${writeCommands(directory)}':"$PATH"\n`,
  )
  return writeWhole(join(directory, names.forPrograms), `${JSON.stringify(content, undefined, 2)}\n`)
}

/** Written to a temporary name and renamed, so that a waiting reader never sees half a file. */
function writeWhole(file: string, text: string): string {
  writeFileSync(`${file}.tmp`, text, { mode: 0o600 })
  renameSync(`${file}.tmp`, file)
  return file
}

/** What the commands and the examples of this tree read from their environment to use this network and no other. */
function shellVariables(network: NetworkFile, payerState: string): string {
  const { accounts, rpcUrl, token, facilitatorUrl, shopUrl, controlUrl } = network
  const caip2 = `eip155:${network.chainId}`
  const blocks: [string, Record<string, string>][] = [
    [
      'svc-pay and other payers: an account with zUSD and gas money, its chain, and limits in base units',
      {
        SVC_PAYER_PK: accounts.payer.privateKey,
        SVC_RPC_URL: rpcUrl,
        SVC_ALLOWED_NETWORK: caip2,
        SVC_ALLOWED_TOKEN: token,
        SVC_ALLOWED_HELPER: network.helper,
        SVC_MAX_PER_PAYMENT: payerCaps.perPayment,
        SVC_MAX_TOTAL: payerCaps.total,
        // Sums of one chain say nothing about the next one.
        SVC_STATE_DIR: payerState,
      },
    ],
    [
      'a shop of your own: the facilitator, the token, and a secret for its offers',
      {
        FACILITATOR_URL: facilitatorUrl,
        SHOP_NETWORK: caip2,
        SHOP_TOKEN: token,
        SHOP_SECRET: randomBytes(32).toString('hex'),
      },
    ],
    [
      'svc-facilitator: check, config, admin',
      {
        SVC_TREASURY_PK: accounts.treasury.privateKey,
        SVC_RELAYER_PK: accounts.relayer.privateKey,
        SVC_ADMIN_TOKEN: network.adminToken,
      },
    ],
    ['the example shop, and the faucet', { SHOP_URL: shopUrl, FAUCET_URL: `${controlUrl}/faucet` }],
  ]
  const lines = blocks.flatMap(([what, variables]) => [
    `# ${what}`,
    // In quotes, because a folder's name may have blanks.
    ...Object.entries(variables).map(([name, value]) => `${name}='${value}'`),
  ])
  return `# The local network of process ${network.pid}. Its keys are public: never use them elsewhere.\n${lines.join('\n')}\n`
}

/** How a shell and a stranger's program get to this network. */
export function howToUse(
  directory: string,
  { rpcUrl, token, controlUrl }: Pick<NetworkFile, 'rpcUrl' | 'token' | 'controlUrl'>,
): string[] {
  const file = join(relative(process.cwd(), directory) || '.', names.forShells)
  return [
    `use this network from another terminal: set -a; . ${file}; set +a`,
    `  sets keys, limits, URLs and the commands svc-pay, svc-facilitator, svc-indexer: chain ${rpcUrl}, token ${token}`,
    `  more zUSD: curl -X POST ${controlUrl}/faucet -H 'content-type: application/json' -d '{"address":"0x…"}'`,
  ]
}

export function removeNetworkFile(directory: string): void {
  for (const name of [names.forShells, names.forPrograms]) rmSync(join(directory, name), { force: true })
}

/**
 * Allows one network per folder, with the lock that allows one daemon per journal. Take the lock before touching
 * anything in the folder: journal, configuration and databases belong to its holder.
 */
export async function lockFolder(folder: string): Promise<{ release(): Promise<void> }> {
  try {
    return await lockJournal(join(folder, 'network'))
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'ledger_locked') throw error
    const who = 'holder' in error ? ` (process ${error.holder})` : ''
    throw new Error(
      `${folder} is in use by another local network${who}; stop that one, or choose another folder with --dir`,
      { cause: error },
    )
  }
}
