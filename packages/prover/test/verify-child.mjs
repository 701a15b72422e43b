// Verifies proofs with snarkjs, in a process of its own because snarkjs threads keep a process alive. Arguments: FOLDER
// CIRCUIT PROOFS, with the words and signals of each proof as texts. Prints one answer for each proof.
import { join } from 'node:path'
import { groth16, zKey } from 'snarkjs'

const [folder, circuit, proofs] = process.argv.slice(2)
const key = await zKey.exportVerificationKey(join(folder, `${circuit}.zkey`))
const answers = []
for (const { proof: words, signals } of JSON.parse(proofs)) {
  const [ax, ay, bxIm, bxRe, byIm, byRe, cx, cy] = words
  const proof = {
    pi_a: [ax, ay, '1'],
    pi_b: [
      [bxRe, bxIm],
      [byRe, byIm],
      ['1', '0'],
    ],
    pi_c: [cx, cy, '1'],
    protocol: 'groth16',
    curve: 'bn128',
  }
  answers.push(await groth16.verify(key, signals, proof))
}
process.stdout.write(JSON.stringify(answers), () => process.exit(0))
