/** Small Node programs that use the built modules, as processes that can be killed. */
import { fileURLToPath } from 'node:url'
import { startNode } from '../../../test/support/node-process.js'

/** Where a script of `runScript` imports the built module from. */
export const builtModule = (name: string) =>
  JSON.stringify(fileURLToPath(new URL(`../dist/${name}.js`, import.meta.url)))

export function runScript(source: string) {
  const script = startNode(['--input-type=module', '--eval', source])
  return {
    ...script,
    kill: () => script.signal('SIGKILL'),
    /** Resolves when it writes something, or when it ends. */
    async said(): Promise<void> {
      await Promise.race([new Promise<void>((resolve) => script.onOutput(resolve)), script.ended])
    },
  }
}
