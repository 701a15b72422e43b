/**
 * The tables. A record is kept as JSON in `record`; beside it stand only the columns that a question asks by. All of them
 * follow from the record (`columnsOf`), so a new field of a record is no new column.
 *
 * Four words stand for types of both engines: KEY (bytes), INT, JSN, UNITS (see `units.ts`). A table that is BY_KEY has its rows
 * in the index of its primary key, where SQLite can do that: a row that lives for one payment is written and deleted once less.
 */

const tables = `
CREATE TABLE ledger (
  one INT PRIMARY KEY CHECK (one = 1),
  id TEXT NOT NULL,
  schema_version INT NOT NULL,
  -- The oldest version whose daemons may still write.
  writers_from INT NOT NULL,
  applied INT NOT NULL,
  applied_crc TEXT NOT NULL,
  -- Counts what no event tells: unpaid challenges were forgotten, or a copy was accepted.
  forgotten INT NOT NULL,
  -- The fees of all payments that are accepted.
  fees UNITS NOT NULL,
  -- live; copy: a backup, until it is accepted as the ledger; no_journal: whole, but its journal was taken away; or
  -- where it was moved to.
  state TEXT NOT NULL,
  record JSN NOT NULL
);
CREATE TABLE event (seq INT PRIMARY KEY, at INT NOT NULL, kind TEXT NOT NULL, payment INT, record JSN NOT NULL);
CREATE INDEX event_payment ON event (payment, seq) WHERE payment IS NOT NULL;
CREATE INDEX event_unmatched ON event (seq) WHERE kind = 'burn_unmatched';

-- One row for each challenge. Nothing here depends on a mint: public answers are read from this table alone.
CREATE TABLE payment (
  id INT PRIMARY KEY,
  nonce KEY NOT NULL UNIQUE,
  pay_to KEY NOT NULL UNIQUE,
  issued_at INT NOT NULL,
  expires_at INT NOT NULL,
  stage TEXT NOT NULL,
  claim_payer KEY,
  granted INT NOT NULL,
  late TEXT,
  epoch TEXT,
  treasury KEY NOT NULL,
  seller TEXT,
  payer KEY,
  listed_at INT NOT NULL,
  listed_amount UNITS NOT NULL,
  record JSN NOT NULL
);
-- An index of one stage begins with it all the same: otherwise SQLite takes payment_issued, and looks at each row.
CREATE INDEX payment_unclaimed ON payment (stage, expires_at) WHERE stage = 'unclaimed';
CREATE INDEX payment_seller ON payment (stage, seller, expires_at) WHERE stage = 'unclaimed';
CREATE INDEX payment_claimed ON payment (claim_payer) WHERE stage IN ('claimed', 'demoted');
CREATE INDEX payment_issued ON payment (stage, issued_at, nonce);
CREATE INDEX payment_epoch ON payment (epoch, issued_at, nonce) WHERE epoch IS NOT NULL;
CREATE INDEX payment_unserved ON payment (stage, granted, id) WHERE stage = 'accepted' AND granted = 0;
CREATE INDEX payment_late ON payment (issued_at, nonce) WHERE late IS NOT NULL;
CREATE INDEX payment_provider ON payment (treasury, listed_at, id);
CREATE INDEX payment_payer ON payment (payer, listed_at, id) WHERE payer IS NOT NULL;

-- The payload of a claimed permit, while its burn may have to be sent again.
CREATE TABLE permit (nonce KEY PRIMARY KEY, record JSN NOT NULL) BY_KEY;

-- A burn that is minted to the provider, and its mint.
CREATE TABLE leaf (
  payment INT NOT NULL,
  place INT NOT NULL,
  nonce KEY NOT NULL,
  burn_tx KEY NOT NULL,
  burned_at INT NOT NULL,
  awaits_mint INT NOT NULL,
  treasury KEY NOT NULL,
  payer KEY,
  bought INT NOT NULL,
  part UNITS,
  fee UNITS,
  minted UNITS,
  minted_at INT,
  -- The block of the mint, or of the burn while no transaction of the mint is known.
  minted_block INT NOT NULL,
  fee_due_to KEY,
  record JSN NOT NULL,
  PRIMARY KEY (payment, place)
);
CREATE INDEX leaf_nonce ON leaf (nonce);
CREATE INDEX leaf_burn ON leaf (burn_tx);
CREATE INDEX leaf_burned ON leaf (burned_at);
CREATE INDEX leaf_minted ON leaf (minted_at, payment, place) WHERE minted_at IS NOT NULL;
CREATE INDEX leaf_awaiting ON leaf (burned_at, payment, place) WHERE awaits_mint = 1;
CREATE INDEX leaf_fee_due ON leaf (burned_at, payment) WHERE fee_due_to IS NOT NULL;
CREATE INDEX leaf_provider ON leaf (treasury, burned_at);
CREATE INDEX leaf_payer ON leaf (payer, burned_at);

-- The signed versions of transactions, and the payments that they carry. A slot is one txNonce of an account.
CREATE TABLE signed (id INT PRIMARY KEY, hash KEY NOT NULL UNIQUE, slot TEXT NOT NULL, record JSN NOT NULL);
CREATE INDEX signed_slot ON signed (slot);
CREATE TABLE carried (nonce KEY NOT NULL, slot TEXT NOT NULL, accepted_block INT, PRIMARY KEY (nonce, slot)) BY_KEY;
CREATE INDEX carried_slot ON carried (slot);
CREATE INDEX carried_accepted ON carried (accepted_block) WHERE accepted_block IS NOT NULL;

-- The accounts that sign, with the highest txNonce that each is known to have signed for or used.
CREATE TABLE account (name TEXT PRIMARY KEY, address KEY NOT NULL, tx_nonce INT NOT NULL);

-- A sweep is open until its transaction is deep on the chain, and then stays for the sum.
CREATE TABLE sweep (id INT PRIMARY KEY, open_tx_nonce INT UNIQUE, amount UNITS NOT NULL, payments INT NOT NULL, record JSN NOT NULL);
-- Transfers to our addresses as the chain has them; when an address is looked at; how far the token was followed. The
-- chain tells all of it again, so no event speaks of it.
CREATE TABLE transfer (leaf INT PRIMARY KEY, pay_to KEY NOT NULL, block INT NOT NULL, record JSN NOT NULL);
CREATE INDEX transfer_address ON transfer (pay_to);
CREATE INDEX transfer_block ON transfer (block);
-- Transfers that a batch counted before anybody knew which burns they are.
CREATE TABLE counted (leaf INT PRIMARY KEY, pay_to KEY NOT NULL);
CREATE TABLE due_address (pay_to KEY PRIMARY KEY, due_at INT NOT NULL);
CREATE INDEX due_address_due ON due_address (due_at);
CREATE TABLE followed (one INT PRIMARY KEY CHECK (one = 1), record JSN NOT NULL);

-- Mined addresses that nobody has seen.
CREATE TABLE ready (id INT PRIMARY KEY, nonce KEY NOT NULL UNIQUE, record JSN NOT NULL);
-- When the mint of a payment, or of an epoch, may be tried: by a nonce, or by the key of an epoch in UTF-8.
CREATE TABLE mint_schedule (turn KEY PRIMARY KEY, due_at_ms INT, rest_until_ms INT NOT NULL, failures INT NOT NULL, draws JSN);
-- Payers whose relayed burns failed.
CREATE TABLE payer_wait (payer KEY PRIMARY KEY, failures INT NOT NULL, until_ms INT NOT NULL);
-- How far a file of the history was written. The file tells it too, but would have to be read. Each daemon writes its own.
CREATE TABLE history_file (file TEXT PRIMARY KEY, record JSN NOT NULL);
CREATE TABLE setting (name TEXT PRIMARY KEY, record JSN NOT NULL);
-- Nonces of login messages that were used.
CREATE TABLE login (nonce TEXT PRIMARY KEY, address KEY NOT NULL, expires_at INT NOT NULL);
`

/** Tables for daemons that share one PostgreSQL server. */
const shared = `
-- Whose work something is. The term grows with each holder.
CREATE TABLE lease (name TEXT PRIMARY KEY, holder TEXT NOT NULL, term INT NOT NULL, until_ms INT NOT NULL);
-- The daemons that live, and what each tells of itself.
CREATE TABLE daemon (holder TEXT PRIMARY KEY, alive_ms INT NOT NULL);
`

const sqliteTypes = {
  'INT PRIMARY KEY': 'INTEGER PRIMARY KEY',
  KEY: 'BLOB',
  INT: 'INTEGER',
  JSN: 'TEXT',
  UNITS: 'TEXT',
  BY_KEY: 'WITHOUT ROWID',
} as const

/** Text in the order of its bytes, as SQLite has it. Numbers that SQLite gives by itself come from a sequence. */
const postgresTypes = {
  'INT PRIMARY KEY': 'BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY',
  KEY: 'BYTEA',
  INT: 'BIGINT',
  JSN: 'TEXT',
  TEXT: 'TEXT COLLATE "C"',
  UNITS: 'TEXT COLLATE "C"',
  BY_KEY: '',
} as const

const inTypes = (text: string, types: Readonly<Record<string, string>>) =>
  text
    .replace(
      /\b(INT PRIMARY KEY|(?<!PRIMARY )KEY|INT|JSN|TEXT|UNITS|BY_KEY)\b/g,
      (word) => types[word] ?? word,
    )
    .split(';\n')
    .filter((statement) => statement.trim() !== '')

/** The SQL dialect of one engine: its tables, as of version 1, and its type names. */
export type Dialect = { readonly tables: string; inTypes(text: string): readonly string[] }

export const sqlite: Dialect = { tables, inTypes: (text) => inTypes(text, sqliteTypes) }
export const postgres: Dialect = {
  tables: `${tables}${shared}`,
  inTypes: (text) => inTypes(text, postgresTypes),
}
