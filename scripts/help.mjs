// The help of npm's scripts. It is answered before anything is installed or built.

/** Words behind `--` are for a program that a command starts. */
export const isHelp = (args) => {
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  return own.includes('--help') || own.includes('-h')
}

/** Prints the help and ends the process, when it was asked for. */
export function answerHelp(text, args = process.argv.slice(2)) {
  if (!isHelp(args)) return
  process.stdout.write(text)
  process.exit(0)
}
