/** Prints how accepted payments become finalized: each step of the indexer and the facilitator, with its time. */

type Network = {
  readonly facilitatorUrl: string
  readonly indexerUrl: string
  readonly adminToken: string
}
type Payment = { readonly name: string; readonly nonce: string }
type Told = {
  readonly payment: { readonly waiting?: { readonly reason: string } }
  readonly timeline: readonly { readonly event: string }[]
}
type IndexerStatus = {
  readonly tree_synced_index: number | null
  readonly onchain_reserved_index: number | null
  readonly onchain_proved_index: number | null
}

/** A proof of a batch takes minutes on a small machine. Only after this long without any news something is wrong. */
const silenceMsMax = 600_000
const lookMs = 300
/** After this long without news, a line says that work continues. */
const stillMs = 5_000

const words: Readonly<Record<string, string>> = {
  gathering: 'waits for others, to be minted in one sum with them',
  proving: 'computing its mint proof',
  unavailable: 'the mint did not come about; it is tried again',
  mint_signed: 'proof done, sending the mint',
  payment_finalized: 'finalized: the verifier contract checked the proof',
}

/** True when all payments were finalized. Waits as long as there is news. */
export async function watchFinalization(options: {
  readonly network: Network
  readonly payments: readonly Payment[]
  /** Where the facilitator logs to. */
  readonly logFile: string
  readonly say: (text: string) => void
}): Promise<boolean> {
  const { network, payments, logFile, say } = options
  const startedMs = performance.now()
  let toldMs = startedMs
  let newsMs = startedMs
  const print = (text: string) => {
    toldMs = performance.now()
    say(`  ${`${((toldMs - startedMs) / 1000).toFixed(1)} s`.padStart(8)}  ${text}`)
  }
  const tell = (text: string) => {
    print(text)
    newsMs = toldMs
  }
  const roots = rootNews(network, tell)
  const turns = payments.map((payment) => turnNews(network, payment, tell))
  while (performance.now() - newsMs < silenceMsMax) {
    await roots()
    const isDone = await Promise.all(turns.map((look) => look()))
    if (isDone.every(Boolean)) return true
    if (performance.now() - toldMs > stillMs) print('…')
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
  print(`gave up waiting: nothing happened for ${silenceMsMax / 60_000} minutes; ${logFile} tells more`)
  return false
}

/** Prints changes of the verifier's roots since the last look. */
function rootNews({ indexerUrl }: Network, tell: (text: string) => void): () => Promise<void> {
  let reserved = 0
  let proved = 0
  return async () => {
    const response = await fetch(`${indexerUrl}/status`)
    if (!response.ok) return
    const [status] = (await response.json()) as IndexerStatus[]
    if (status?.onchain_proved_index && status.onchain_proved_index > proved) {
      proved = status.onchain_proved_index
      tell(`root over ${proved} transfers proved on chain`)
    }
    if (status?.onchain_reserved_index && status.onchain_reserved_index > Math.max(reserved, proved)) {
      reserved = status.onchain_reserved_index
      tell(`hash chain of ${reserved} transfers reserved, the indexer proves the root over them`)
    }
  }
}

/** Prints what a payment waits for, and its new turns. Returns whether the last turn was printed. */
function turnNews(
  { facilitatorUrl, adminToken }: Network,
  { name, nonce }: Payment,
  tell: (text: string) => void,
): () => Promise<boolean> {
  let told = 0
  let awaited: string | undefined
  let isFinalized = false
  return async () => {
    const response = await fetch(`${facilitatorUrl}/admin/payments/${nonce}`, {
      headers: { authorization: `Bearer ${adminToken}` },
    })
    const { payment, timeline } = (await response.json()) as Told
    const news = timeline.slice(told).map(({ event }) => event)
    const reason = payment.waiting?.reason
    if (reason && reason !== awaited) news.push(reason)
    for (const each of news) if (words[each]) tell(`${name}: ${words[each]}`)
    told = timeline.length
    awaited = reason
    isFinalized ||= news.includes('payment_finalized')
    return isFinalized
  }
}
