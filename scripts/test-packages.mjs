// `npm run test:packages`: the packages as strangers install them, on the oldest Node that we support and on newer ones.
// The binaries come from npm, from packages that contain nothing else; about two minutes after the first time.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { answerHelp } from './help.mjs'
import { root, run, setup } from './setup.mjs'

answerHelp(`Usage: npm run test:packages

Installs the packages as strangers do, on the oldest Node that we support and on newer ones, and uses them. Two minutes.
`)

const versions = ['20.19.0', '22.23.3', '24.21.0']
const { platform, arch } = process
const binaries = `node-${platform === 'win32' ? 'win' : platform}-${arch}`

async function installNode(version) {
  const folder = join(root, '.cache', 'nodes', version)
  const bin = join(folder, 'node_modules', binaries, 'bin')
  if (!existsSync(bin)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
    const wanted = `${binaries}@${version}`
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', wanted], {
      cwd: folder,
    })
  }
  return `${version}=${bin}`
}

await setup({ tools: true, types: true })
const found = []
for (const version of versions) found.push(await installNode(version))
await run(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', 'test/packages'], {
  env: { ...process.env, PACKAGES_NODES: found.join(',') },
})
