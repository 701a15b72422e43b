/** Bounds of the index, so that neither a question nor the size of the history decides how much memory it takes. */
export const indexLimits = {
  /** Entries that are looked at for one page. A page that finds too little in them is short. */
  examinedPerPageMax: 2_000,
  /**
   * Entries and payments that one step of a walk reads. Payments are put together on the daemon's main thread, and whoever pays
   * waits for as long as a step takes: 20 payments are a millisecond or two, and steps of 100 make an export no faster.
   */
  entriesPerStep: 1_000,
  paymentsPerStep: 20,
  stepBytesMax: 262_144,
  /** Records of the files in one write, and how often a long catch-up tells how far it is. */
  recordsPerWrite: 2_000,
  progressEveryRecords: 50_000,
  /** Writes whose numbers are kept: more than are made while the system keeps them in memory. */
  writesKept: 16_384,
  /** Blocks kept in memory, and records in memory before they go into a table. */
  cacheBytes: 16 * 1024 ** 2,
  writeBufferBytes: 8 * 1024 ** 2,
  /**
   * Tables are mapped into memory while they are open, so these two bound that memory together. With fewer open tables than
   * a million records have, every read opens one anew.
   */
  openFilesMax: 128,
  fileBytesMax: 2 * 1024 ** 2,
}
