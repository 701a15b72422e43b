/** Byte layout of the questions and answers of the signer thread. */

/** Digest (32), r ‖ s (64), parity (1). */
export const questionBytes = 97
/** 1 when there is an address (else 0), then its 20 bytes. */
export const answerBytes = 21
