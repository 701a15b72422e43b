// Built files whose source is gone. The compiler never removes them: they hide mistakes, and a package would carry them.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const built = /\.(?:js|d\.ts)(?:\.map)?$/

/** Removes from `dist` of a workspace what no source stands behind any more. */
export function removeLeftovers(workspace) {
  const dist = join(workspace, 'dist')
  const src = join(workspace, 'src')
  if (!existsSync(dist)) return
  for (const path of readdirSync(dist, { recursive: true }).filter((path) => built.test(path))) {
    const source = path.replace(built, '.ts')
    // The sources of contracts/ stand beside src/, which has Solidity.
    if (!existsSync(join(src, source)) && !existsSync(join(workspace, source))) rmSync(join(dist, path))
  }
}
