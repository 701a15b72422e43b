// `npm run pack`: builds, then makes a tarball of every public package in the folder `tarballs`, and prints how to install
// them. `npm run -s pack -- seller` prints only what a seller gives to `npm install`.
import { join } from 'node:path'
import { installWords, pack, roles } from './packages.mjs'
import { root, setup } from './setup.mjs'

const [role] = process.argv.slice(2)
if (role !== undefined && !(role in roles)) {
  const names = Object.keys(roles).join('|')
  const isHelp = role === '--help' || role === '-h'
  const out = isHelp ? process.stdout : process.stderr
  out.write(`usage: npm run pack, or npm install $(npm run -s pack --prefix CLONE -- ${names})\n`)
  process.exit(isHelp ? 0 : 2)
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
