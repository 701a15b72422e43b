/** `doctor`: checks everything that would keep a payment from going through, before there is one. */
import { access, constants } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Address, Network, textTable } from '@svc-zerc20/protocol'
import type { AssembledPayer } from '../payer/assemble-payer.js'
import { exitCodes } from '../payer-error.js'
import { createHelperTrust } from '../signing/helper-trust.js'
import { type Io, paint, type Report } from './output.js'

type Finding = { readonly level: 'ok' | 'warn' | 'fail'; readonly what: string; readonly found: string }

/**
 * Largest clock error that is tolerated. A larger one makes offers look expired, or deadlines too far away.
 */
const skewSecondsMax = 60

export async function doctor(
  payer: AssembledPayer,
  { folder, warnings }: { readonly folder: string; readonly warnings: readonly string[] },
  io: Io,
): Promise<Report> {
  const findings: Finding[] = [
    ...warnings.map((found): Finding => ({ level: 'warn', what: 'environment', found })),
    payer.address
      ? { level: 'ok', what: 'account', found: payer.address }
      : { level: 'warn', what: 'account', found: 'SVC_PAYER_PK is unset: quoting works, paying does not' },
    await looked('state folder', () => writable(folder)),
    await looked(
      'totals',
      async () => `${Object.keys((await payer.state.totals.state()).reservations).length} reservations open`,
    ),
    ...(await chainFindings(payer)),
  ]
  const isSick = findings.some(({ level }) => level === 'fail')
  const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const
  const rows = findings.map(({ level, what, found }) => [
    paint(io, colours[level], level.padEnd(4)),
    what,
    found,
  ])
  return { exitCode: isSick ? exitCodes.failed : exitCodes.ok, result: { findings }, text: textTable(rows) }
}

async function chainFindings(payer: AssembledPayer): Promise<Finding[]> {
  const { chain, policy, scheme } = payer
  const endpoint = withoutSecrets(payer.rpcUrl)
  const reached = await looked('rpc', async () => {
    const [token] = policy.allowedTokens ?? []
    // The first call also compares the chain's id with the network that is allowed.
    await chain.codeAt(token ?? (`0x${'0'.repeat(39)}1` as Address))
    return `${endpoint} answers for ${policy.network}`
  })
  if (reached.level === 'fail') return [{ ...reached, found: `${endpoint} (SVC_RPC_URL): ${reached.found}` }]
  const clock = await looked('clock', async () => {
    const { timestamp } = await chain.readNewestBlock()
    const skew = Math.floor(scheme.clock.now() / 1_000) - Number(timestamp)
    // A chain without traffic may have an old head. Only a head in the future is proof of a wrong clock.
    if (skew < -skewSecondsMax) throw new Error(`this clock is ${-skew} s behind the chain`)
    return `the chain's head is ${skew} s old`
  })
  const tokens = await Promise.all((policy.allowedTokens ?? []).map((token) => tokenFinding(payer, token)))
  const chainId = Network.parseChainId(policy.network) ?? 0
  const { allowedHelpers } = policy
  const trust = createHelperTrust({
    codeAt: chain.codeAt,
    chainId,
    allowedHelpers: undefined,
    limits: scheme.limits,
  })
  const helpers = await Promise.all(
    (allowedHelpers ?? []).map((helper) =>
      looked('helper', async () => {
        await trust(helper)
        return `${helper} has the code of our burner`
      }),
    ),
  )
  return [reached, clock, ...tokens, ...helpers]
}

/** What the account holds of a token. Nothing is a warning: quoting works, and every payment is refused. */
async function tokenFinding({ chain, address }: AssembledPayer, token: Address): Promise<Finding> {
  let held: bigint | undefined
  const found = await looked('token', async () => {
    const one = await chain.inTokens(token, 1n)
    if (one === undefined) throw new Error(`${token} tells neither symbol nor decimals`)
    held = address && (await chain.balanceOf(token, address))
    const text = held === undefined ? '' : `; the account holds ${await chain.inTokens(token, held)}`
    return `${token}: the smallest unit is ${one}${text}`
  })
  return held === 0n ? { ...found, level: 'warn', found: `${found.found}, so it can pay nothing` } : found
}

/** A URL without what may be a key: credentials, path and query. */
function withoutSecrets(text: string): string {
  const { origin, pathname, search } = new URL(text)
  return pathname === '/' && search === '' ? origin : `${origin}/…`
}

async function looked(what: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return { level: 'ok', what, found: await look() }
  } catch (error) {
    return { level: 'fail', what, found: (error as Error).message }
  }
}

/**
 * Whether the folder can be written, or the nearest existing one above it: the folder is made on first use.
 */
async function writable(folder: string): Promise<string> {
  for (let place = folder; ; place = dirname(place)) {
    try {
      await access(place, constants.W_OK | constants.X_OK)
      return place === folder ? folder : `${folder}, still to be made`
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || place === dirname(place)) throw error
    }
  }
}
