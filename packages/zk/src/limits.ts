/** Every bound of this package, named with its unit. */
export const limits = {
  /** Above this a search takes days; a larger setting is a mistake, not a wish. */
  powBitsMax: 32,
} as const
