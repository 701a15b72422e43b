// Circuits that are set up in a moment, under the names of the real ones.
const below = (bits) => ({ include: 'bits.circom', component: `Below(${bits})`, publicSignals: ['in'] })

export const smallCircuits = {
  'withdraw-local': {
    include: 'withdraw.circom',
    component: 'Withdraw(1, 0)',
    publicSignals: ['root', 'recipient', 'withdrawValue'],
  },
  'withdraw-global': below(8),
  'root-16': below(6),
  'root-64': below(20),
  'batch-withdraw': below(9),
}

export const tinyCircuits = {
  'withdraw-local': below(4),
  'withdraw-global': below(5),
  'root-16': below(6),
  'root-64': below(7),
  'batch-withdraw': below(3),
}
