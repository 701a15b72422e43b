const columns = 100

/** The help text that a command prints. */
function helpOf(command) {
  let text = ''
  command.configureOutput({
    writeOut: (part) => {
      text += part
    },
    getOutHelpWidth: () => columns,
    getOutHasColors: () => false,
  })
  command.outputHelp()
  return text.trimEnd()
}

/** One section for a command and for each command in it. */
export function sectionsOf(command, depth, prefix) {
  const name = `${prefix}${command.name()}`
  const section = `${'#'.repeat(depth)} \`${name}\`\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`
  return [section, ...command.commands.flatMap((inner) => sectionsOf(inner, 3, `${name} `))]
}
