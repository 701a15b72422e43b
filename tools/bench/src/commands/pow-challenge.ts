/** Measures `POST /challenge` with a filled pool. */
import { startLocalNetwork } from '@svc-zerc20/devnet'

const poolSize = 256
const pollMs = 100

export type ChallengeFigures = {
  readonly count: number
  /** Milliseconds as measured by the caller, so at least the server's time. */
  readonly p50: number
  readonly p99: number
}

/** Asks for one challenge at a time, and never for more than the pool holds. */
export async function measureChallenges(rounds: number): Promise<ChallengeFigures> {
  const network = await startLocalNetwork({ config: { zerc20: { pool_size: poolSize } } })
  try {
    const times: number[] = []
    for (let round = 0; round <= rounds; round++) {
      await untilFull(network.facilitatorUrl, network.adminToken)
      for (let taken = 0; taken < poolSize / 2; taken++) {
        const startedAt = performance.now()
        await issueChallenge(network.facilitatorUrl)
        if (round > 0) times.push(performance.now() - startedAt) // the first round only warms up
      }
    }
    const sorted = times.toSorted((a, b) => a - b)
    const quantile = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN
    return { count: sorted.length, p50: quantile(0.5), p99: quantile(0.99) }
  } finally {
    await network.close()
  }
}

async function issueChallenge(url: string): Promise<void> {
  const response = await fetch(`${url}/challenge`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ amount: '1000' }),
  })
  if (!response.ok) throw new Error(`no challenge: ${response.status} ${await response.text()}`)
  await response.json()
}

async function untilFull(url: string, token: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/admin/status`, { headers: { authorization: `Bearer ${token}` } })
    const { addresses } = (await response.json()) as { addresses: { ready: number; target: number } }
    if (addresses.ready >= addresses.target) return
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
