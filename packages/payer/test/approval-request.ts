import type { ApprovalRequest } from '../src/policy/approval.js'
import { address, bytes32 } from './offers.js'

/** A question as the guard asks it. */
export const approvalRequest = (changes: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  challengeNonce: bytes32(1) as ApprovalRequest['challengeNonce'],
  terms: bytes32(2),
  method: 'GET',
  host: 'shop.example',
  url: 'https://shop.example/report',
  body: 'none',
  network: 'eip155:31337',
  token: address(1),
  payer: address(4),
  amount: '1500000',
  tokens: '1.5 ZED',
  fee: '7',
  remaining: '2500000',
  why: 'rule approval: asked 1500000, allowed 1000000 without approval',
  until: 2_000_000_000_000,
  ...changes,
})
