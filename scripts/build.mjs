// `npm run build`: installs what is missing, checks the types of all sources, and builds them and the bundles of commands
// and pages.
import { answerHelp } from './help.mjs'
import { setup } from './setup.mjs'

answerHelp(`Usage: npm run build

Checks types, compiles every workspace into its dist/, and bundles the commands and the web pages. Needs no options: what
did not change is not built again.
`)

await setup({ keys: false, types: true })
