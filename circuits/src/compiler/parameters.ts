import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { emptyRoots } from '@svc-zerc20/zk'

const require = createRequire(import.meta.url)

/** Largest state of the hashes in use: three inputs plus one. */
const widest = 4
const constantsMax = 256

type Parameters = { readonly constants: readonly bigint[]; readonly matrix: readonly (readonly bigint[])[] }

/** Poseidon's published parameters for a number of inputs, as poseidon-lite carries them. */
function poseidonParameters(inputs: number): Parameters {
  // The package exports only its hashes, so the numbers are read from a file of the package.
  const folder = dirname(require.resolve(`poseidon-lite/poseidon${inputs}`))
  const { C, M } = require(join(folder, 'constants', `${inputs}.js`)).default as {
    C: string[]
    M: string[][]
  }
  const number = (base64: string) => BigInt(`0x${Buffer.from(base64, 'base64').toString('hex')}`)
  return { constants: C.map(number), matrix: M.map((row) => row.map(number)) }
}

const list = (numbers: readonly bigint[]) => `[${numbers.join(',\n')}]`

const padded = (numbers: readonly bigint[], length: number) => [
  ...numbers,
  ...new Array<bigint>(length - numbers.length).fill(0n),
]

/** The generated circom file with Poseidon's published constants and the empty roots. */
export function parametersFile(): string {
  const [three, four] = [poseidonParameters(2), poseidonParameters(3)]
  // A circom function returns arrays of one size only, so smaller arrays are padded with zeros.
  const constants = (of: Parameters) => list(padded(of.constants, constantsMax))
  const matrix = (of: Parameters) => {
    const rows = [...of.matrix, ...new Array<bigint[]>(widest - of.matrix.length).fill([])]
    return `[${rows.map((row) => list(padded(row, widest))).join(',\n')}]`
  }
  const byWidth = (name: string, text: (of: Parameters) => string) =>
    `function ${name}(width) {\nif (width == 3) {\nreturn ${text(three)};\n}\nreturn ${text(four)};\n}\n`
  return `pragma circom 2.1.6;
${byWidth('poseidonConstants', constants)}${byWidth('poseidonMatrix', matrix)}
// Root of an empty tree of each height.
function emptyRoots() {\nreturn ${list(emptyRoots())};\n}
`
}
