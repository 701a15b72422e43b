export function findBrowser(): string | undefined
export const howToGetBrowser: string
