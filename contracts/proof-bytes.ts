// Proofs as the Verifier takes them. Every part but the list of transfers is a row of 32-byte words, so the ABI
// encoding is written out here and this package needs no library at run time.

/** Groth16 proof: A.x, A.y, B.x (imaginary, real), B.y (imaginary, real), C.x, C.y. */
export type ProofWords = readonly bigint[]

/** One leaf of a token. */
export type Transfer = { readonly from: `0x${string}`; readonly to: `0x${string}`; readonly value: bigint }

/** See `ITransferRoots.RootProof`. */
export type RootProof = {
  readonly oldIndex: bigint
  /** How many of the transfers the proof appends; the others lead on to a reserved hash chain. */
  readonly count: number
  readonly batch: number
  readonly newRoot: bigint
  readonly transfers: readonly Transfer[]
  readonly proof: ProofWords
}

const proofWords = 8
const withdrawSignals = 3
const wordBytes = 32n

/** The argument of `proveTransferRoot`. */
export function encodeRootProof(claim: RootProof): `0x${string}` {
  const { oldIndex, count, batch, newRoot, transfers } = claim
  const proof = exactly(claim.proof, proofWords, 'proof words')
  const head = [oldIndex, BigInt(count), BigInt(batch), newRoot]
  // The transfers come last: after this head, their own offset and the proof.
  const transfersOffset = BigInt(head.length + 1 + proofWords) * wordBytes
  const list = transfers.flatMap(({ from, to, value }) => [BigInt(from), BigInt(to), value])
  return words([wordBytes, ...head, transfersOffset, ...proof, BigInt(transfers.length), ...list])
}

/** The `proof` argument of `singleTeleport` and `teleport`; signals are root, recipient hash and total value. */
export function encodeWithdrawProof(proof: ProofWords, signals: readonly bigint[]): `0x${string}` {
  return words([
    ...exactly(proof, proofWords, 'proof words'),
    ...exactly(signals, withdrawSignals, 'withdraw signals'),
  ])
}

function words(values: readonly bigint[]): `0x${string}` {
  return `0x${values.map(word).join('')}`
}

function word(value: bigint): string {
  if (value < 0n || value >> 256n !== 0n) throw new RangeError(`${value} is no 256-bit word`)
  return value.toString(16).padStart(64, '0')
}

function exactly(values: readonly bigint[], count: number, what: string): readonly bigint[] {
  if (values.length !== count) throw new RangeError(`${values.length} instead of ${count} ${what}`)
  return values
}
