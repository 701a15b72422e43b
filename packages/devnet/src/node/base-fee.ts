const elasticity = 2n
const changeDenominator = 8n

/** The base fee of the next block, by EIP-1559. */
export function nextBaseFee(block: { baseFee: bigint; gasUsed: bigint; gasLimit: bigint }): bigint {
  const target = block.gasLimit / elasticity
  if (block.gasUsed === target) return block.baseFee
  if (block.gasUsed > target) {
    const rise = (block.baseFee * (block.gasUsed - target)) / target / changeDenominator
    return block.baseFee + (rise > 0n ? rise : 1n)
  }
  return block.baseFee - (block.baseFee * (target - block.gasUsed)) / target / changeDenominator
}
