import type { PayerAccount } from '../src/index.js'

/** The account, and how often it was asked to sign anything. */
export function countSignatures(account: PayerAccount) {
  const signed = { typedData: 0, transactions: 0 }
  const counting: PayerAccount = {
    address: account.address,
    signTypedData: ((data: Parameters<PayerAccount['signTypedData']>[0]) => {
      signed.typedData += 1
      return account.signTypedData(data)
    }) as PayerAccount['signTypedData'],
    signTransaction: ((transaction: Parameters<PayerAccount['signTransaction']>[0]) => {
      signed.transactions += 1
      return account.signTransaction(transaction)
    }) as PayerAccount['signTransaction'],
  }
  return { account: counting, signed }
}
