export function setup(): void
export function assertPostgres(machine?: { isThere?: boolean; mayLack?: boolean }): void
