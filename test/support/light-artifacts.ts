/**
 * Keys for tests of what happens around proofs. Their circuits have the inputs and the public signals of the real ones,
 * and constrain none of them: a proof takes a hundredth of the time and shows nothing. Prover, contracts and all between
 * them are real.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { developmentPowBits } from '@svc-zerc20/circuits'
import { ensureDevelopment } from '../../circuits/dist/artifacts/ensure-artifacts.js'
import { type Catalogue, type CircuitSource, catalogue } from '../../circuits/dist/compiler/catalogue.js'
import { sourceFolder } from '../../circuits/dist/compiler/compile.js'
import { root } from '../../scripts/source-files.js'

/** The folder of these keys, which are made where they are missing. */
export function lightArtifacts(): Promise<string> {
  const circuits = Object.entries(catalogue(developmentPowBits)).map(([name, source]) => [
    name,
    light(source),
  ])
  return ensureDevelopment({
    folder: join(root, '.cache', 'light-circuits'),
    powBits: developmentPowBits,
    batch: true,
    circuits: Object.fromEntries(circuits) as Catalogue,
    onProgress: () => undefined,
  })
}

/** A template of the same inputs, whose only constraints are those that let it show its public signals. */
function light(source: CircuitSource): CircuitSource {
  const name = source.component.slice(0, source.component.indexOf('('))
  const text = readFileSync(join(sourceFolder, source.include), 'utf8')
  const [, parameters, body = ''] =
    new RegExp(`template ${name}\\((.*)\\) \\{\n([\\s\\S]*?)\n\\}`).exec(text) ?? []
  const inputs = body.split('\n').filter((line) => /^ +(?:var width|signal input) /.test(line))
  const squares = source.publicSignals.map(
    (signal) => `    signal ${signal}Squared <== ${signal} * ${signal};`,
  )
  const template = [`template Light${name}(${parameters}) {`, ...inputs, ...squares, '}\n'].join('\n')
  return { ...source, template, component: `Light${source.component}` }
}
