// `npm run pack`: builds, then makes a tarball of every public package in the folder `tarballs`, or in the folder named.
import { resolve } from 'node:path'
import { pack } from './packages.mjs'
import { root, setup } from './setup.mjs'

await setup()
const destination = resolve(root, process.argv[2] ?? 'tarballs')
for (const { file, paths } of pack(destination)) process.stdout.write(`${file}  ${paths.length} files\n`)
