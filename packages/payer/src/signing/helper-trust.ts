/**
 * Decides which helper may become the spender of a permit.
 *
 * The offer names the helper, and offers come from strangers. A spender can take the signed amount: an
 * account, or a contract made for it, would simply do so. Our permit burner moves the amount once, and only
 * where the payer's second signature says.
 */
import { permitBurnerRuntime, readRuntime } from '@svc-zerc20/contracts'
import { type Address, TypedData } from '@svc-zerc20/protocol'
import { domainSeparator, keccak256, numberToHex, pad, stringToHex } from 'viem'
import type { PayerLimits } from '../limits.js'
import { PayerError } from '../payer-error.js'

/** Resolves when the helper may be signed for; rejects with `offer_helper` otherwise. */
export type HelperTrust = (helper: Address) => Promise<void>

/** Start of the code of an account that delegates to other code and can change the delegation (EIP-7702). */
const delegationPrefix = '0xef0100'

export function createHelperTrust({
  codeAt,
  chainId,
  allowedHelpers,
  limits,
}: {
  readonly codeAt: (address: Address) => Promise<string>
  readonly chainId: number
  /** The only helpers to sign for. Undefined: a helper is judged by its code. */
  readonly allowedHelpers: readonly Address[] | undefined
  readonly limits: Pick<PayerLimits, 'helpersKnownMax'>
}): HelperTrust {
  // A good answer stays good: deployed code cannot be exchanged, and ours cannot destroy itself.
  const known = new Set<Address>()

  function check(helper: Address, code: string): void {
    if (code === '0x') throw refused(helper, 'is an account without code')
    if (code.startsWith(delegationPrefix)) throw refused(helper, 'is an account that delegates its code')
    if (allowedHelpers === undefined && !isOurBurner(code, helper, chainId)) {
      throw refused(helper, 'does not have the code of our SvcPermitBurner; pin it if you know it')
    }
  }

  return async (helper) => {
    if (allowedHelpers && !allowedHelpers.includes(helper)) throw refused(helper, 'is not in allowedHelpers')
    if (known.has(helper)) return
    check(helper, await codeAt(helper))
    const [oldest] = known
    if (oldest !== undefined && known.size >= limits.helpersKnownMax) known.delete(oldest)
    known.add(helper)
  }
}

/**
 * Whether the code is ours, with the values that our constructor would have written. A deployer can write
 * other values: for example the domain of another permit burner, so that signatures meant for that one could
 * be used here a second time.
 */
function isOurBurner(code: string, helper: Address, chainId: number): boolean {
  const words = readRuntime(code, permitBurnerRuntime)
  if (words === undefined) return false
  const domain = TypedData.burnAuthorizationDomain(chainId, helper)
  return (
    words._cachedThis === pad(helper) &&
    words._cachedChainId === numberToHex(chainId, { size: 32 }) &&
    words._cachedDomainSeparator === domainSeparator({ domain }) &&
    // These two rebuild the separator if the chain's id ever changes.
    words._hashedName === keccak256(stringToHex(domain.name)) &&
    words._hashedVersion === keccak256(stringToHex(domain.version))
  )
}

const refused = (helper: Address, why: string) => new PayerError('offer_helper', `helper ${helper} ${why}`)
