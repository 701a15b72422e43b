export function sourcesOf(root: string): string
export function noteBuild(root: string, sources: string): void
export function isBuilt(root: string): boolean
