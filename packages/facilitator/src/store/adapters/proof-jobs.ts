/** Proof jobs in the store. Its rows are what is waited for: offers that nobody waits for end with the next one that ends. */
import type { ProofJob, ProofJobs } from '../../payment/finalize/proof-jobs.js'
import { systemRandom } from '../../system.js'
import { hasFreeProof, proofOffer } from '../steps/proof-steps.js'
import type { Store } from '../store.js'
import { decode, encode } from '../stored.js'

/** Undefined where no other daemon can reach the store. */
export function createProofJobs({
  ask,
  change,
  leases: { holder },
}: Pick<Store, 'ask' | 'change' | 'leases'>): ProofJobs | undefined {
  if (holder === undefined) return undefined
  const offered = new Set<string>()

  async function poll(id: string) {
    const found = await ask(proofOffer(id))
    if (!found) return 'gone'
    if (found.proof !== undefined) return { words: wordsIn(found.proof) }
    return found.isFree ? 'free' : 'taken'
  }

  return {
    async offer(job) {
      const id = Buffer.from(systemRandom.bytes(16)).toString('hex')
      const end = () => {
        offered.delete(id)
        return change('keepProofs', [...offered])
      }
      offered.add(id)
      const isOffered = await change('offerProof', id, encode(job), holder).catch((error) => {
        offered.delete(id)
        throw error
      })
      if (!isOffered) {
        offered.delete(id)
        return undefined
      }
      return { poll: () => poll(id), end }
    },

    async take() {
      // Most of the time there is nothing, and asking is cheaper than a step.
      if (!(await ask(hasFreeProof()))) return undefined
      const taken = await change('takeProof', holder)
      if (!taken) return undefined
      const { id, term, record } = taken
      return {
        job: decode<ProofJob>(record),
        give: (words) => change('giveProof', id, term, JSON.stringify(words.map(String))),
        giveUp: () => change('giveUpProof', id, term),
      }
    },
  }
}

/** Throws for a row that is no proof. */
const wordsIn = (text: string): readonly bigint[] => (JSON.parse(text) as string[]).map(BigInt)
