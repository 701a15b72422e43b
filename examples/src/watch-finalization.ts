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

const waitMsMax = 180_000
const lookMs = 300
/** After this long without news, a line says that work continues. */
const stillMs = 5_000

const words: Readonly<Record<string, string>> = {
  proving: 'computing its mint proof',
  unavailable: 'the mint did not come about; it is tried again',
  mint_signed: 'proof done, sending the mint',
  payment_finalized: 'finalized: the verifier contract checked the proof',
}

/** True when all payments were finalized in time. */
export async function watchFinalization(options: {
  readonly network: Network
  readonly payments: readonly Payment[]
  readonly say: (text: string) => void
}): Promise<boolean> {
  const { network, payments, say } = options
  const startedMs = performance.now()
  let toldMs = startedMs
  const tell = (text: string) => {
    toldMs = performance.now()
    say(`  ${`${((toldMs - startedMs) / 1000).toFixed(1)} s`.padStart(8)}  ${text}`)
  }
  const roots = rootNews(network, tell)
  const turns = payments.map((payment) => turnNews(network, payment, tell))
  while (performance.now() - startedMs < waitMsMax) {
    await roots()
    const isDone = await Promise.all(turns.map((look) => look()))
    if (isDone.every(Boolean)) return true
    if (performance.now() - toldMs > stillMs) tell('… proving')
    await new Promise((resolve) => setTimeout(resolve, lookMs))
  }
  tell('gave up waiting; the log of the facilitator tells more')
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
