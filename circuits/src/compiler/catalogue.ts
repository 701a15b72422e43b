import {
  type BatchShape,
  batchShape,
  type CircuitName,
  hubHeight,
  rootBatches,
  treeHeight,
} from '@svc-zerc20/zk'

/** A circuit as the compiler takes it. */
export type CircuitSource = {
  /** File of `circom/` that has the template. */
  readonly include: string
  /** A template of a test's own. */
  readonly template?: string
  /** The component, with its arguments. */
  readonly component: string
  /** Public signals, in the order in which verifiers take them. */
  readonly publicSignals: readonly string[]
}

/** The text of the file that the compiler starts from. */
export function mainFile({ include, template = '', component, publicSignals }: CircuitSource): string {
  return `pragma circom 2.1.6;
include "${include}";
${template}component main {public [${publicSignals.join(', ')}]} = ${component};
`
}

/** The circuit of batch mints in some shape. Tests compile small ones. */
export function batchWithdraw(powBits: number, shape: BatchShape): CircuitSource {
  const { depth, windowHeight, slots, windows } = shape
  return {
    include: 'batch-withdraw.circom',
    component: `BatchWithdraw(${depth}, ${windowHeight}, ${powBits}, ${slots}, ${windows})`,
    publicSignals: ['root', 'recipient', 'withdrawValue', 'start', 'end'],
  }
}

/** A source for each circuit. */
export type Catalogue = Readonly<Record<CircuitName, CircuitSource>>

/** Every circuit, for a number of proof-of-work bits. */
export function catalogue(powBits: number): Catalogue {
  const withdraw = (depth: number): CircuitSource => ({
    include: 'withdraw.circom',
    component: `Withdraw(${depth}, ${powBits})`,
    publicSignals: ['root', 'recipient', 'withdrawValue'],
  })
  const root = (batch: number): CircuitSource => ({
    include: 'root.circom',
    component: `Root(${treeHeight}, ${Math.log2(batch)})`,
    publicSignals: ['oldIndex', 'oldRoot', 'newIndex', 'newRoot', 'z', 'y'],
  })
  return {
    'withdraw-local': withdraw(treeHeight),
    'withdraw-global': withdraw(treeHeight + hubHeight),
    'root-16': root(rootBatches['root-16']),
    'root-64': root(rootBatches['root-64']),
    'batch-withdraw': batchWithdraw(powBits, batchShape),
  }
}
