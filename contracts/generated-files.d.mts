import type { Compilation } from './compiler.mjs'

export declare function generatedFiles(compilation?: Compilation): ReadonlyMap<string, string>
