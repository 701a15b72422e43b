export declare function driftedFiles(fresh?: ReadonlyMap<string, string>): string[]
