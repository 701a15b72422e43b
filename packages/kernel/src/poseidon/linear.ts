import type { Field } from '../field.js'
import { at } from '../montgomery.js'

export type Vector = readonly bigint[]
export type Matrix = readonly Vector[]

/** Linear algebra over a prime field, for constants; sizes are a handful. */
export type LinearAlgebra = {
  dot(left: Vector, right: Vector): bigint
  /** matrix · vector */
  apply(matrix: Matrix, vector: Vector): Vector
  /** vector · matrix */
  applyLeft(vector: Vector, matrix: Matrix): Vector
  multiply(left: Matrix, right: Matrix): Matrix
  inverse(matrix: Matrix): Matrix
}

export function createLinearAlgebra({ prime, inverse }: Pick<Field, 'prime' | 'inverse'>): LinearAlgebra {
  const dot = (left: Vector, right: Vector) =>
    left.reduce((sum, value, index) => sum + value * at(right, index), 0n) % prime
  const transpose = (matrix: Matrix): Matrix =>
    at(matrix, 0).map((_, column) => matrix.map((row) => at(row, column)))
  const apply = (matrix: Matrix, vector: Vector) => matrix.map((row) => dot(row, vector))
  const applyLeft = (vector: Vector, matrix: Matrix) => apply(transpose(matrix), vector)

  /** Gauss-Jordan elimination without pivot search: in so large a field, a zero pivot practically never occurs. */
  function invert(matrix: Matrix): Matrix {
    const size = matrix.length
    const rows = matrix.map((row, index) => [...row, ...row.map((_, column) => (column === index ? 1n : 0n))])
    for (let pivot = 0; pivot < size; pivot++) {
      const scale = inverse(at(at(rows, pivot), pivot))
      const scaled = at(rows, pivot).map((value) => (value * scale) % prime)
      for (const [index, row] of rows.entries()) {
        const factor = prime - at(row, pivot)
        rows[index] =
          index === pivot ? scaled : row.map((value, column) => (value + factor * at(scaled, column)) % prime)
      }
    }
    return rows.map((row) => row.slice(size))
  }

  return {
    dot,
    apply,
    applyLeft,
    multiply: (left, right) => left.map((row) => applyLeft(row, right)),
    inverse: invert,
  }
}
