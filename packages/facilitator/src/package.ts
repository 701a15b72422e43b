/** This package as it is installed. The path holds for the built files and for the bundle, which lie side by side. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const packageFolder = fileURLToPath(new URL('..', import.meta.url))

const manifest = readFileSync(`${packageFolder}package.json`, 'utf8')

/** The version of this package. */
export const version: string = (JSON.parse(manifest) as { version: string }).version
