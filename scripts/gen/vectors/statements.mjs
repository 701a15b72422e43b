// Samples of statements for the guide of auditors and for other implementations. Keys, salts and times are fixed, so that the
// same bytes come out every time. Everything is good until 2100.
import { createHash } from 'node:crypto'
import {
  makePrivateKey,
  parsePrivateKey,
  printStatementFile,
  signManifest,
  signRevocations,
  signStatement,
  thumbprintOf,
} from '../../../packages/statement/dist/index.js'

const bytesOf = (text) => createHash('sha256').update(`svc-zerc20 sample: ${text}`).digest()
const anchor = parsePrivateKey(makePrivateKey(bytesOf('anchor')))
const key = parsePrivateKey(makePrivateKey(bytesOf('issuer')))
const kid = 'sample-key'
const issuer = 'https://pay.example'
const audience = 'https://auditor.example'
/** 2026-01-03T00:00:00Z and 2100-01-01T00:00:00Z. */
const [issuedAt, expiresAt] = [1_767_398_400, 4_102_444_800]
/** The day behind the burn, which is over when the statements are issued: before that a payer is not told of the mint. */
const [acceptedAt, finalizedOn] = [issuedAt - 126_390, '2026-01-02']

const hex = (text, bytes) =>
  `0x${bytesOf(text)
    .toString('hex')
    .slice(0, bytes * 2)}`
const money = { network: 'eip155:31337', token: hex('token', 20) }
const burn = { burnTransaction: hex('burn', 32), leafIndex: '41', value: '250000' }

const manifest = signManifest(anchor, {
  iss: issuer,
  seq: 1,
  iat: issuedAt,
  exp: expiresAt,
  keys: [{ kid, jwk: key.publicJwk, nbf: issuedAt }],
})
const listOf = (iat, revoked) => signRevocations(key, kid, { iss: issuer, iat, exp: expiresAt, revoked })

function randomOf(name) {
  let calls = 0
  return { bytes: (length) => bytesOf(`${name} ${calls++}`).subarray(0, length) }
}

async function fileOf(name, content) {
  const jti = bytesOf(`jti of ${name}`).toString('hex').slice(0, 32)
  const statement = await signStatement(content, {
    key,
    kid,
    issuer,
    audience,
    nonce: 'sample-nonce',
    issuedAt,
    expiresAt,
    jti,
    random: randomOf(name),
  })
  return { jti, text: printStatementFile({ statement, manifest, revocations: listOf(issuedAt, []) }) }
}

const payment = () =>
  fileOf('payment', {
    kind: 'payment',
    open: { ...money, role: 'payer', outcome: 'accepted' },
    hidden: {
      challengeNonce: hex('nonce', 32),
      issuedAt: acceptedAt - 10,
      amount: burn.value,
      acceptedAt,
      payer: hex('payer', 20),
      finalizedOn,
      listPrice: burn.value,
      ...burn,
    },
  })

const receipt = () => fileOf('receipt', { kind: 'finality', open: money, hidden: { ...burn, finalizedOn } })

/** test/vectors/statement/trust-anchor.json */
export const renderTrustAnchor = () =>
  `${JSON.stringify({ ...anchor.publicJwk, kid: thumbprintOf(anchor.publicJwk) }, undefined, 2)}\n`

/** test/vectors/statement/payment.json */
export const renderPaymentStatement = async () => (await payment()).text

/** test/vectors/statement/receipt.json */
export const renderReceipt = async () => (await receipt()).text

/** test/vectors/statement/revocations-later.jws: the list of a day later, with the payment on it. */
export const renderRevocations = async () => `${listOf(issuedAt + 86_400, [(await payment()).jti])}\n`
