/** Every bound of this package, named with its unit. */
export const limits = {
  /** A search with more bits takes days, so a larger setting is treated as a mistake. */
  powBitsMax: 32,
} as const
