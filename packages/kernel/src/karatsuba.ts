/**
 * Products of numbers in three blocks with six multiplications instead of nine, applied to itself `levels` times.
 * A number of 3^levels blocks is spread into 6^levels sums of blocks; the product of two numbers needs one product
 * per sum, and a sum of products is added up before the columns are joined. Intermediate results may wrap around,
 * because all additions and subtractions are modulo 2^64 and the final result fits.
 */

type Add<Word> = (left: Word, right: Word) => Word

/** Cuts into three blocks of equal length. */
function thirds<Word>(words: readonly Word[]): [readonly Word[], readonly Word[], readonly Word[]] {
  const size = words.length / 3
  return [words.slice(0, size), words.slice(size, 2 * size), words.slice(2 * size)]
}

function pairwise<Word>(left: readonly Word[], right: readonly Word[], combine: Add<Word>): Word[] {
  return left.flatMap((word, index) => {
    const other = right[index]
    return other === undefined ? [] : [combine(word, other)]
  })
}

/** The sums of a number's blocks. */
export function spread<Word>(words: readonly Word[], levels: number, add: Add<Word>): (readonly Word[])[] {
  if (levels === 0) return [words]
  const [a, b, c] = thirds(words)
  const sums = [a, b, c, pairwise(a, b, add), pairwise(a, c, add), pairwise(b, c, add)]
  return sums.flatMap((sum) => spread(sum, levels - 1, add))
}

export type JoinOperations<Word> = {
  readonly add: Add<Word>
  readonly subtract: Add<Word>
  /** Makes a word cheap to use more than once. */
  readonly keep: (word: Word) => Word
}

/** The columns of a product from the columns of the products of its sums. */
export function join<Word>(
  products: readonly (readonly Word[])[],
  levels: number,
  operations: JoinOperations<Word>,
): readonly Word[] {
  const only = products[0]
  if (levels === 0 && only !== undefined) return only
  const { add, subtract, keep } = operations
  const share = products.length / 6
  const [a, b, c, ab, ac, bc] = Array.from({ length: 6 }, (_, index) =>
    join(products.slice(index * share, (index + 1) * share), levels - 1, operations).map(keep),
  )
  if (!a || !b || !c || !ab || !ac || !bc) throw new RangeError('six products per level are needed')
  const without = (from: readonly Word[], ...taken: (readonly Word[])[]) =>
    taken.reduce((rest, words) => pairwise(rest, words, subtract), from)
  const parts = [a, without(ab, a, b), pairwise(without(ac, a, c), b, add), without(bc, b, c), c]
  const blockLength = (a.length + 1) / 2
  const columns: Word[] = []
  for (const [block, part] of parts.entries()) {
    for (const [index, word] of part.entries()) {
      const column = block * blockLength + index
      const there = columns[column]
      columns[column] = there === undefined ? word : add(there, word)
    }
  }
  return columns
}
