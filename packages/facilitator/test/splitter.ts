/** How the contract FeeSplitter divides a balance. A test compares this with the contract. */
export function splitOf(
  balance: bigint,
  { bps, payerPays }: { bps: number; payerPays: boolean },
): { toProvider: bigint; toFeeRecipient: bigint } {
  const share = BigInt(bps)
  const toFeeRecipient = (balance * share) / (payerPays ? 10_000n + share : 10_000n)
  return { toProvider: balance - toFeeRecipient, toFeeRecipient }
}
