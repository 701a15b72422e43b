/** What a local network takes from the environment of its process. */
export const environment = {
  PATH: process.env.PATH ?? '',
  POSTGRES_BIN: process.env.POSTGRES_BIN,
} as const
