/** What a payer signs, written from the protocol text alone: none of our packages. */
export const permitTypes = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const

export const burnAuthorizationTypes = {
  BurnAuthorization: [
    { name: 'token', type: 'address' },
    { name: 'payer', type: 'address' },
    { name: 'burnAddress', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'challengeNonce', type: 'bytes32' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const
