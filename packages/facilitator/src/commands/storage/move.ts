/** `svc-facilitator move`: the ledger of this configuration to a database, or from it into files. */
import type { Secret } from '@svc-zerc20/protocol'
import { SvcError } from '@svc-zerc20/protocol'
import type { Config } from '../../config/config.js'
import { limits } from '../../config/limits.js'
import { pathOf } from '../../store/journal/lock.js'
import type { Copied } from '../../store/move/copy-tables.js'
import { moveToDatabase, moveToFiles } from '../../store/move/move-ledger.js'

type MoveCommandDeps = {
  readonly config: Config
  /** The address of a database, or the path of a journal. */
  readonly to: string
  /** The password of the database, from or to which the ledger moves. */
  readonly password: Secret<string> | undefined
  readonly say: (line: string) => void
}

/** Gives the lines to print. */
export async function moveLedger({ config, to, password, say }: MoveCommandDeps): Promise<string> {
  const isToDatabase = /^postgres(?:ql)?:\/\//.test(to)
  const url = isToDatabase ? to : config.storage.url
  if (url === undefined)
    throw wrong('the ledger is in files, so give the address of a database, postgres://…')
  if (isToDatabase && config.storage.url !== undefined) {
    throw wrong(
      `the ledger is in a database, so give the path of a journal; nothing is moved between databases`,
    )
  }
  if (isToDatabase && config.settlement.journal === 'none')
    throw wrong('settlement.journal is "none": there is no ledger')
  const journal = isToDatabase ? config.settlement.journal : to
  const moved = await (isToDatabase ? moveToDatabase : moveToFiles)({
    journal,
    database: { url, password },
    databaseName: nameOf(url),
    settings: {
      // A move takes no step.
      steps: {
        openMax: 0,
        expiredRetentionSeconds: 0,
        unmatchedMax: { perChallenge: 0, total: 0 },
        foundPerAddressMax: 0,
      },
      keepSigned: { blocks: config.settlement.reorg_watch_blocks },
    },
    limits,
    say,
  })
  return [...counts(moved), ...(isToDatabase ? nextOnServer(url) : nextInFiles(pathOf(journal))), ''].join(
    '\n',
  )
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

const nextOnServer = (url: string) => [
  'moved; now write into the configuration:',
  `  settlement.journal = "none"`,
  `  storage.url = "${nameOf(url)}", with the user before the host`,
]

const nextInFiles = (path: string) => [
  'moved; now write into the configuration, and remove storage.url:',
  `  settlement.journal = "${path}"`,
]
