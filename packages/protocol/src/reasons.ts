/**
 * Every reason for a refusal, in order of precedence: when several apply, the caller gets the first.
 * `docs/reference/reasons.md` is generated from this table.
 *
 * - `retry` tells the caller what may help.
 * - `status` is the HTTP status of the facilitator's answer. Verdicts about a payment are 200, because the
 *   official middleware forwards only such answers whole.
 */
export type Reason = {
  readonly retry: 'never' | 'fresh_offer' | 'same_payload' | 'later'
  readonly status: number
  readonly help: string
}

export const reasons = {
  overloaded: {
    retry: 'same_payload',
    status: 503,
    help: 'More is asked of the facilitator than it can do in time; nothing was done. Wait for Retry-After and send the same again.',
  },
  unauthorized: {
    retry: 'never',
    status: 401,
    help: 'The administrative surface needs its bearer token, or is locked because none is set.',
  },
  token_missing: {
    retry: 'never',
    status: 401,
    help: 'The payment history needs an identity token: Authorization: Bearer TOKEN.',
  },
  token_malformed: {
    retry: 'never',
    status: 401,
    help: 'The identity token has another form than the tokens of this facilitator.',
  },
  token_algorithm: { retry: 'never', status: 401, help: 'The identity token is not signed with HS256.' },
  token_signature: {
    retry: 'never',
    status: 401,
    help: 'The signature of the identity token is wrong, or its secret was replaced; get a new token.',
  },
  token_issuer: { retry: 'never', status: 401, help: 'Another facilitator issued the identity token.' },
  token_audience: {
    retry: 'never',
    status: 401,
    help: 'The identity token is not for this facilitator alone.',
  },
  token_not_yet_valid: {
    retry: 'never',
    status: 401,
    help: 'The identity token begins in the future; compare the clocks of its issuer and of this facilitator.',
  },
  token_expired: { retry: 'never', status: 401, help: 'The identity token is past its end; get a new one.' },
  token_role: {
    retry: 'never',
    status: 401,
    help: 'The role of the identity token is neither payer nor provider.',
  },
  token_tenant: {
    retry: 'never',
    status: 401,
    help: 'The tenant of the identity token is not the one of its role.',
  },
  token_actor: {
    retry: 'never',
    status: 401,
    help: 'The actor of the identity token is not the one of its role.',
  },
  login_malformed: {
    retry: 'never',
    status: 400,
    help: 'This is not a login message of this facilitator with a signature; sign and send it unchanged.',
  },
  login_unknown: {
    retry: 'never',
    status: 401,
    help: 'The login message was not made by this process, or for another account; ask for a new one.',
  },
  login_expired: {
    retry: 'never',
    status: 401,
    help: 'The login message is past its end; ask for a new one.',
  },
  login_reused: { retry: 'never', status: 401, help: 'The login message was used; ask for a new one.' },
  login_refused: {
    retry: 'never',
    status: 401,
    help: 'The signature is not of the account, or the account is no participant of this history.',
  },
  standby: {
    retry: 'same_payload',
    status: 503,
    help: 'Another daemon of this facilitator is active; nothing was done. Ask that one, or wait for Retry-After.',
  },
  not_found: { retry: 'never', status: 404, help: 'There is nothing at this path.' },
  method_not_allowed: { retry: 'never', status: 405, help: 'The path exists, but not for this method.' },
  unsupported_media_type: { retry: 'never', status: 415, help: 'Send the body as application/json.' },
  body_too_large: { retry: 'never', status: 413, help: 'The body is larger than any payment needs.' },
  too_many_requests: {
    retry: 'later',
    status: 429,
    help: 'The rate for this caller is used up; wait for Retry-After.',
  },
  malformed_request: { retry: 'never', status: 400, help: 'The body is no request of this endpoint.' },
  not_entitled: {
    retry: 'never',
    status: 403,
    help: 'The role of this participant does not allow what it asks for.',
  },
  nonce_required: {
    retry: 'never',
    status: 400,
    help: 'This payer has no address here: ask for its payments one by one, by challenge nonce.',
  },
  invalid_amount: {
    retry: 'never',
    status: 400,
    help: 'The amount must be a positive decimal integer string below 2^248, fee included.',
  },
  nothing_to_state: {
    retry: 'later',
    status: 409,
    help: 'Nothing was burned for the payment, so there is nothing to prove.',
  },
  finality_not_told: {
    retry: 'later',
    status: 409,
    help: 'The burn is not minted, or only lately: finality is told by day, when the day behind the burn is over (UTC).',
  },
  burn_not_disclosed: {
    retry: 'never',
    status: 403,
    help: 'A finality receipt names the burn, and you may not see the burn: its payer has to disclose it first.',
  },
  period_not_over: {
    retry: 'later',
    status: 409,
    help: 'A total is proved for a period that has begun, and that ended a minute ago or earlier.',
  },
  issuer_unavailable: {
    retry: 'later',
    status: 503,
    help: 'The facilitator cannot use the key that signs statements right now; its log says why.',
  },
  acceptance_disabled: {
    retry: 'never',
    status: 403,
    help: 'Payment acceptance is disabled for the profile of this facilitator.',
  },
  issuance_paused: {
    retry: 'later',
    status: 503,
    help: 'The operator paused the issuance of challenges; wait for Retry-After.',
  },
  challenge_limit: {
    retry: 'later',
    status: 503,
    help: 'As many challenges are open as this facilitator allows; wait for Retry-After.',
  },
  address_pool_empty: {
    retry: 'later',
    status: 503,
    help: 'No one-time burn address is ready; wait for Retry-After.',
  },
  profile_unsupported: {
    retry: 'never',
    status: 200,
    help: 'The profile of this facilitator does not accept payments.',
  },
  invalid_x402_version: { retry: 'never', status: 200, help: 'Only x402Version 2 is spoken here.' },
  unsupported_scheme: { retry: 'never', status: 200, help: 'The scheme is not svc-zerc20.' },
  malformed_payload: {
    retry: 'never',
    status: 200,
    help: 'The payload is neither a full permit nor a self-transfer, or a field has the wrong form.',
  },
  unknown_challenge: {
    retry: 'fresh_offer',
    status: 200,
    help: 'This facilitator did not issue the challenge, or forgot it after its retention.',
  },
  requirements_mismatch: {
    retry: 'never',
    status: 200,
    help: 'The requirements differ from what the facilitator issued for the challenge.',
  },
  already_accepted: {
    retry: 'never',
    status: 200,
    help: 'The burn was accepted and its one grant was used.',
  },
  challenge_claimed: {
    retry: 'fresh_offer',
    status: 200,
    help: 'Another burn is under way or accepted for this challenge.',
  },
  challenge_expired: { retry: 'fresh_offer', status: 200, help: 'Past expiresAt; fetch a new 402.' },
  permit_not_offered: {
    retry: 'fresh_offer',
    status: 200,
    help: 'The gasless path is not offered; pay by self-transfer.',
  },
  value_mismatch: {
    retry: 'fresh_offer',
    status: 200,
    help: 'permit.value must equal the quoted amount exactly.',
  },
  deadline_mismatch: {
    retry: 'fresh_offer',
    status: 200,
    help: 'permit.deadline must equal extra.deadline.',
  },
  deadline_passed: {
    retry: 'fresh_offer',
    status: 200,
    help: 'By the time of the chain the signatures are past their deadline.',
  },
  contract_payer: {
    retry: 'never',
    status: 200,
    help: 'The payer is a contract; the permit path takes externally owned accounts only.',
  },
  invalid_signature: {
    retry: 'fresh_offer',
    status: 200,
    help: 'A signature is not a canonical secp256k1 signature (low s, v of 27 or 28).',
  },
  signer_mismatch: {
    retry: 'fresh_offer',
    status: 200,
    help: 'The permit and the burn authorization do not both recover to payer.',
  },
  payer_must_wait: {
    retry: 'same_payload',
    status: 200,
    help: 'Another burn of this payer is under way, or one failed on chain; send this again in a while, or pay by self-transfer.',
  },
  permit_nonce_in_use: {
    retry: 'fresh_offer',
    status: 200,
    help: 'The same permit nonce is being burned for another challenge; sign again with the next one.',
  },
  permit_nonce_stale: {
    retry: 'fresh_offer',
    status: 200,
    help: "permit.nonce is not the token's live nonce of the payer, and no allowance is left that covers the amount.",
  },
  insufficient_funds: {
    retry: 'never',
    status: 200,
    help: 'The payer holds less than the amount.',
  },
  burn_not_found: {
    retry: 'same_payload',
    status: 200,
    help: 'The chain has no receipt for burnTxHash; wait for it, then send the same payload.',
  },
  burn_reverted: { retry: 'fresh_offer', status: 200, help: 'The burn transaction reverted.' },
  burn_mismatch: {
    retry: 'never',
    status: 200,
    help: 'The transaction has no IndexedTransfer of this token to payTo.',
  },
  burn_underpaid: { retry: 'never', status: 200, help: 'The transfer to payTo is below the amount.' },
  burn_split: {
    retry: 'never',
    status: 200,
    help: 'Several transfers to payTo reach the amount only together; one transfer must cover it.',
  },
  burn_not_held: {
    retry: 'same_payload',
    status: 200,
    help: 'The burn address does not hold the amount.',
  },
  burn_failed: {
    retry: 'fresh_offer',
    status: 200,
    help: 'The relayed burn did not execute on chain; nothing was taken from the payer.',
  },
  pending_burn: {
    retry: 'same_payload',
    status: 200,
    help: 'Broadcast, not confirmed yet; send the same payload again.',
  },
  relayer_busy: {
    retry: 'same_payload',
    status: 503,
    help: 'The relayer queue is full or out of gas money; nothing was broadcast.',
  },
  storage_unavailable: {
    retry: 'same_payload',
    status: 503,
    help: 'The facilitator cannot write its ledger right now; nothing was changed.',
  },
  chain_unavailable: {
    retry: 'same_payload',
    status: 503,
    help: 'The facilitator cannot reach its chain right now.',
  },
  internal_error: { retry: 'later', status: 500, help: 'A defect of the facilitator; it was logged.' },
} as const satisfies Record<string, Reason>

export type ReasonCode = keyof typeof reasons

/** A refusal that is the caller's fault. Returned, never thrown. */
export type Rejection = { readonly ok: false; readonly reason: ReasonCode; readonly message: string }
export type Result<T> = { readonly ok: true; readonly value: T } | Rejection

export const accept = <T>(value: T): Result<T> => ({ ok: true, value })

export function reject(reason: ReasonCode, message: string = reasons[reason].help): Rejection {
  return { ok: false, reason, message }
}
