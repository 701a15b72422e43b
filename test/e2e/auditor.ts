/** The last command of docs/guides/for-auditors.md: a finality receipt beside the chain where its burn was minted. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  makePrivateKey,
  parsePrivateKey,
  printStatementFile,
  signManifest,
  signRevocations,
  signStatement,
} from '@svc-zerc20/statement'
import { blocksOf, pairsOf, runShell } from '../support/guide-blocks.js'
import type { Shown } from './guide.js'

type Minted = {
  readonly burn: { readonly transaction: string; readonly leafIndex: string; readonly value: string }
}

/** Runs it on a receipt about the first payment of the network that is finalized. */
export async function runAuditorOnChain(networkFile: string): Promise<Shown> {
  const network = JSON.parse(readFileSync(networkFile, 'utf8'))
  const answer = await fetch(`${network.facilitatorUrl}/admin/payments?phase=finalized`, {
    headers: { authorization: `Bearer ${network.adminToken}` },
  })
  const { payments } = (await answer.json()) as { payments: Minted[] }
  const burn = payments.at(-1)?.burn
  const pair = pairsOf(blocksOf('for-auditors.md')).find(({ typed }) => typed.includes('--rpc'))
  if (burn === undefined || pair === undefined)
    throw new Error('there is no finalized payment, or no command for one')
  const folder = mkdtempSync(join(tmpdir(), 'svc-auditor-'))
  try {
    await writeReceipt(folder, network, burn)
    const printed = await runShell(pair.typed.replace('http://127.0.0.1:8545', network.rpcUrl), folder)
    return { shown: comparable(pair.output), printed: comparable(printed) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Leaves, blocks and amounts differ from run to run. */
const comparable = (text: string) => text.replace(/\d+/g, '…').trim()

/** The daemon gives such a receipt on the next day only. */
async function writeReceipt(
  folder: string,
  { chainId, token }: { chainId: number; token: string },
  { transaction, leafIndex, value }: Minted['burn'],
): Promise<void> {
  const [anchor, key] = [1, 2].map(() => parsePrivateKey(makePrivateKey(randomBytes(32))))
  if (!anchor || !key) throw new Error('no keys')
  const iat = Math.floor(Date.now() / 1_000)
  const [issuer, kid, exp] = ['https://pay.example', 'key', iat + 3_600]
  const statement = await signStatement(
    {
      kind: 'finality',
      open: { network: `eip155:${chainId}`, token: token.toLowerCase() },
      hidden: {
        burnTransaction: transaction,
        leafIndex,
        value,
        finalizedOn: new Date().toISOString().slice(0, 10),
      },
    },
    {
      key,
      kid,
      issuer,
      audience: 'https://auditor.example',
      issuedAt: iat,
      expiresAt: exp,
      jti: 'j',
      random: { bytes: randomBytes },
    },
  )
  const keys = [{ kid, jwk: key.publicJwk, nbf: iat }]
  const manifest = signManifest(anchor, { iss: issuer, seq: 1, iat, exp, keys })
  const revocations = signRevocations(key, kid, { iss: issuer, iat, exp, revoked: [] })
  writeFileSync(join(folder, 'receipt.json'), printStatementFile({ statement, manifest, revocations }))
  writeFileSync(join(folder, 'trust-anchor.json'), JSON.stringify(anchor.publicJwk))
}
