import type { ReasonCode } from './reasons.js'

/**
 * Every code of an `SvcError`: a failure of the world or of a setting, never of a caller. Payers and statements have tables of
 * their own (`payerErrors`, `statementReasons`). `docs/reference/errors.md` is generated from this one.
 *
 * - `exit`: only a person can correct it, so a daemon exits with 1. After any other code it exits with 75: try again.
 * - `reason`: what a caller over HTTP is told. After any other code it is told `internal_error`.
 */
type ErrorRow = { readonly means: string; readonly exit?: 'mistake'; readonly reason?: ReasonCode }

export const errorCodes = {
  // Settings and command lines
  bad_option: { means: 'An option of the command line is wrong.', exit: 'mistake' },
  config_invalid: { means: 'The configuration file, or what it points to, is wrong.', exit: 'mistake' },
  secrets_invalid: { means: 'A variable with a secret is missing or malformed.', exit: 'mistake' },
  payer_misconfigured: {
    means: 'An option, a variable or a request of the payer is wrong.',
    exit: 'mistake',
  },
  seed_mismatch: {
    means: 'The treasury key is not the one that the addresses of the ledger derive from.',
    exit: 'mistake',
  },
  admin_refused: { means: 'The daemon refused a command of its operator.', exit: 'mistake' },
  admin_unreachable: { means: 'No daemon answers a command of its operator.' },

  // A node and its chain
  rpc_unreachable: { means: 'The node does not answer.', reason: 'chain_unavailable' },
  rpc_error: { means: 'The node refused a call, or answered nonsense.', reason: 'chain_unavailable' },
  wrong_chain: { means: 'The node is on another chain.', exit: 'mistake', reason: 'chain_unavailable' },
  node_behind: { means: 'The node does not have a block yet that is known to exist.' },
  block_moved: { means: 'A reorg replaced a block while it was read.' },
  chain_replaced: { means: 'No block that is stored is on the chain.' },
  chain_too_short: { means: 'The chain does not have the first block to read yet.' },
  transfers_not_contiguous: { means: 'The node left transfers out, or reported some twice.' },
  token_index_mismatch: { means: 'The node reported another number of transfers than the token counts.' },
  hash_chain_mismatch: { means: "The reported transfers do not lead to the token's hash chain." },
  transfers_gone: { means: 'A reorg took transfers that a proof was to be made of.' },

  // Transactions
  transaction_refused: { means: 'The contract or the node refuses the transaction.' },
  transaction_reverted: { means: 'The transaction was mined and reverted.' },
  transaction_displaced: { means: 'Another transaction used its txNonce, or a reorg took it.' },
  transaction_stuck: { means: 'The transaction is not mined at the highest gas price that is allowed.' },
  relayer_busy: { means: 'Too many mints wait for the relayer.' },
  relayer_unfunded: { means: 'The relayer cannot pay the gas.' },
  distribution_failed: { means: 'The splitter did not divide its balance.' },

  // The ledger and its files
  ledger_failed: { means: 'The ledger cannot be written or read right now.', reason: 'storage_unavailable' },
  lease_lost: {
    means: 'Another daemon has taken over what this one was doing.',
    reason: 'standby',
  },
  ledger_locked: { means: 'Another daemon uses the ledger.' },
  ledger_corrupt: { means: 'The ledger is damaged: its journal, or its database.', exit: 'mistake' },
  ledger_newer: { means: 'The ledger was written by another version.', exit: 'mistake' },
  ledger_unusable: { means: 'The files of the ledger cannot be used where they are.', exit: 'mistake' },
  ledger_old: {
    means: 'The ledger is an old copy: the chain shows what it does not know.',
    exit: 'mistake',
  },
  journal_lost: { means: 'The journal was removed or replaced under a running daemon.', exit: 'mistake' },
  payment_lost: { means: 'A payment that was claimed is not in the ledger.' },
  nonce_reused: { means: 'A challenge nonce or an address came up twice.' },
  history_lost: { means: 'The file of the history is gone from its place.' },
  history_unusable: { means: 'The file of the history is of another token or ledger.', exit: 'mistake' },

  // Addresses, paths and proofs
  miner_crashed: { means: 'Several threads ended while they mined one address.' },
  miner_exhausted: { means: 'No number solves the proof of work of an address.' },
  miner_queue_full: { means: 'Too many addresses are being mined.' },
  address_not_derived: { means: 'An address does not derive from the key and the settings of today.' },
  indexer_failed: { means: 'The indexer does not answer, or answers nonsense.' },
  path_mismatch: { means: 'A path does not lead to the proved root.' },
  tree_behind: { means: "The node's logs have fewer leaves than the root." },
  tree_gap: { means: "The node's logs skip a leaf." },
  tree_damaged: { means: 'The tree lost a node.' },
  tree_failed: { means: 'The thread that builds the tree ended.' },
  root_mismatch: { means: "The token's logs do not give the proved root." },
  proved_root_mismatch: { means: "The verifier holds another root than the indexer's tree." },
  reserved_chain_mismatch: { means: "The verifier reserved another hash chain than the indexer's." },
  checkpoint_gone: { means: 'The verifier does not have the hash chain that a proof begins with.' },
  verifier_paused: { means: 'The verifier is paused.' },
  witness_refused: { means: 'The circuit refuses a burn: its keys are of another circuit.' },
  decider_failed: { means: 'The decider does not answer, or answers nonsense.' },
  decider_gave_up: { means: 'The decider could not prove.' },
  decider_slow: { means: 'The decider has no proof in time.' },
  decider_wrong: { means: 'The decider answered with a proof that is not valid.' },
  job_malformed: { means: 'The text of a job for the decider, or of its proof, is malformed.' },

  // The indexer's folder
  folder_locked: { means: 'Another indexer uses the folder.' },
  folder_of_another_token: { means: 'The folder belongs to another token.', exit: 'mistake' },
  folder_unusable: { means: 'The folder cannot be used.', exit: 'mistake' },

  // Statements
  issuer_unusable: { means: 'Key, manifest and trust anchor do not belong together.', exit: 'mistake' },
  issuer_exists: { means: 'There is an issuer already.', exit: 'mistake' },
  issuer_full: { means: 'The manifest has no room for another key.', exit: 'mistake' },
  issuer_invalid: { means: 'The name of an issuer or of a key cannot be used.', exit: 'mistake' },
  anchor_mismatch: { means: 'The private key of the trust anchor is that of another one.', exit: 'mistake' },
  key_malformed: { means: 'A file or a text is no private Ed25519 key.', exit: 'mistake' },
  key_unknown: { means: 'The manifest does not have the key.', exit: 'mistake' },
  statement_unknown: { means: 'No such statement was issued here.', exit: 'mistake' },
  statement_unfit: { means: 'A statement would not pass its own check.' },
  claim_missing: { means: 'A statement does not have the claim that is to be disclosed.', exit: 'mistake' },

  // A seller's program
  option_missing: { means: 'An option is not set.', exit: 'mistake' },
  invalid_amount: { means: 'A decimal amount cannot be read.', exit: 'mistake' },
  invalid_client_limits: { means: 'A limit of `clientLimits` is no whole number above 0.', exit: 'mistake' },
  invalid_facilitator_token: { means: '`facilitatorToken` is no bearer token.', exit: 'mistake' },
  invalid_facilitator_url: { means: '`facilitatorUrl` is no plain URL.', exit: 'mistake' },
  invalid_method: { means: 'A paid route cannot sell this method.', exit: 'mistake' },
  invalid_network: { means: '`network` is no `eip155:<chainId>`.', exit: 'mistake' },
  invalid_paywall: { means: 'An option of the paywall is wrong.', exit: 'mistake' },
  invalid_price: { means: 'A price is no positive whole number of base units.', exit: 'mistake' },
  invalid_token: { means: '`token` is no address.', exit: 'mistake' },
  not_from_accept: { means: 'An entry of `accepts` was not made by `accept`.', exit: 'mistake' },
  reserved_extra: { means: '`extra` sets a field of the scheme.', exit: 'mistake' },
  scheme_not_registered: { means: 'The x402 server does not know the scheme.', exit: 'mistake' },
  seal_secret_missing: { means: 'There is no secret for the seal of offers.', exit: 'mistake' },
  seal_secret_too_short: { means: 'The secret for the seal is too short.', exit: 'mistake' },
  two_facilitator_credentials: {
    means: 'The facilitator is given a token and credentials in its URL.',
    exit: 'mistake',
  },
  answer_too_large: { means: 'The facilitator answered more than any answer of it has.' },
  not_visited: { means: 'A paid route was reached around its gate.' },
  answer_endless: { means: 'The answer of a paid handler had no end in time, or was too long to be held.' },
  unpaid: { means: 'A paid route was passed without payment.' },

  // A payer's program; what becomes of a payment is in `payerErrors`
  unknown_payment: { means: 'This payer knows nothing of the payment.' },

  // Everywhere
  closed: { means: 'The program is stopping, and the part that was asked is closed.' },
  close_failed: { means: 'Some part did not close in order.' },
  invariant: { means: 'A defect of ours.' },
  unreachable: { means: 'A defect of ours: a case that cannot be.' },
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof errorCodes

/** What the table says of a code, which may also be none of ours. */
export const errorRow = (code: string): ErrorRow | undefined =>
  Object.hasOwn(errorCodes, code) ? errorCodes[code as ErrorCode] : undefined
