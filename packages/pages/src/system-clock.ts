/** The machine's clock. */
export const nowMs = (): number => Date.now()
