/** The variables that attach a payment history to a daemon, and those of its issuer. */
export const historyEnvironment = (path: string) => ({
  PAYMENT_HISTORY_PATH: path,
  HISTORY_IDENTITY_SECRET: 'Zq0-this-one-nobody-will-ever-guess',
  HISTORY_PAYER_TENANT: 'buyers',
  HISTORY_PAYER_ACTOR: 'purchasing',
  HISTORY_PROVIDER_TENANT: 'sellers',
  HISTORY_PROVIDER_ACTOR: 'accounts',
})

export const issuerEnvironment = (
  { key, manifest, anchor }: { readonly key: string; readonly manifest: string; readonly anchor: string },
  artifacts: string,
) => ({
  HISTORY_ISSUER_PRIVATE_KEY_PATH: key,
  HISTORY_ISSUER_MANIFEST_PATH: manifest,
  HISTORY_ISSUER_TRUST_ANCHOR_PATH: anchor,
  HISTORY_ARTIFACT_PATH: artifacts,
})
