// Verifies proofs with snarkjs, in a process of its own because snarkjs threads keep a process alive. Arguments: FOLDER
// PROOFS, with the circuit, the words and the signals of each proof as texts. Prints one answer for each proof.
import { join } from 'node:path'
import { groth16, zKey } from 'snarkjs'

const [folder, proofs] = process.argv.slice(2)
const answers = []
for (const { circuit, proof: words, signals } of JSON.parse(proofs)) {
  const key = await zKey.exportVerificationKey(join(folder, `${circuit}.zkey`))
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
