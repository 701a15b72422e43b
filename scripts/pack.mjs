// `npm run pack`: builds, then makes a tarball of every public package in the folder `tarballs`, and prints how to install
// them. `node scripts/pack.mjs seller` prints only what a seller gives to `npm install`.
import { join } from 'node:path'
import { answerHelp } from './help.mjs'
import { installWords, pack, roles } from './packages.mjs'
import { root, setup } from './setup.mjs'

const usage = `Usage: npm run pack, or npm install $(node CLONE/scripts/pack.mjs ${Object.keys(roles).join('|')})\n`
answerHelp(usage)
const [role] = process.argv.slice(2)
if (role !== undefined && !(role in roles)) {
  process.stderr.write(usage)
  process.exit(2)
}

await setup({ keys: false })
const packed = pack(join(root, 'tarballs'))
if (role !== undefined) process.stdout.write(`${installWords(role, packed).join(' ')}\n`)
else {
  for (const { file, paths } of packed) process.stdout.write(`${file}  ${paths.length} files\n`)
  process.stdout.write('\nNothing is published yet. In a folder of your own, install what your role needs:\n')
  for (const name of Object.keys(roles))
    process.stdout.write(`\n${name}:\n  npm install ${installWords(name, packed).join(' ')}\n`)
}
