/** `svc-facilitator move`: the ledger of this configuration from its files to a database. */
import { type Secret, SvcError } from '@svc-zerc20/protocol'
import type { Config } from '../../config/config.js'
import { limits } from '../../config/limits.js'
import type { Copied } from '../../store/move/copy-tables.js'
import { moveToDatabase } from '../../store/move/move-ledger.js'

type MoveCommandDeps = {
  readonly config: Config
  /** The address of the database. */
  readonly to: string
  readonly password: Secret<string> | undefined
  readonly say: (line: string) => void
}

/** Gives the lines to print. */
export async function moveLedger({ config, to, password, say }: MoveCommandDeps): Promise<string> {
  if (!/^postgres(?:ql)?:\/\//.test(to)) throw wrong('give the address of a database, postgres://…')
  if (config.storage.url !== undefined) throw wrong('storage.url is set: the ledger is in a database already')
  if (config.settlement.journal === 'none') throw wrong('settlement.journal is "none": there is no ledger')
  const moved = await moveToDatabase({
    journal: config.settlement.journal,
    database: { url: to, password },
    databaseName: nameOf(to),
    settings: {
      // A move takes no step.
      steps: {
        openMax: 0,
        openOfSellers: new Map(),
        expiredRetentionSeconds: 0,
        unmatchedMax: { perChallenge: 0, total: 0 },
        foundPerAddressMax: 0,
      },
      keepSigned: { blocks: config.settlement.reorg_watch_blocks },
    },
    limits,
    say,
  })
  return [
    ...counts(moved),
    'moved; now write into the configuration:',
    `  settlement.journal = "none"`,
    `  storage.url = "${nameOf(to)}", with the user before the host`,
    '',
  ].join('\n')
}

const wrong = (why: string) => new SvcError('config_invalid', `--to: ${why}`)

/** Without user, password and parameters. */
function nameOf(url: string): string {
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname}`
}

function counts(moved: readonly Copied[]): readonly string[] {
  if (moved.length === 0) return ['the rows were there already']
  return moved.filter(({ rows }) => rows > 0).map(({ table, rows }) => `${table}: ${rows} rows`)
}
