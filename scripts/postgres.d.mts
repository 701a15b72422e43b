export function findPostgres(): string | undefined
export const howToGetPostgres: string
export function setup(): void
