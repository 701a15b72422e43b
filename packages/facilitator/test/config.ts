/** A minimal configuration with additional lines in its tables. */
export function minimalConfig(lines: Record<string, string> = {}, profile = 'local'): string {
  const address = (digit: string) => `'0x${digit.repeat(40)}'`
  const table = (name: string, body = '') => `[${name}]\n${body}${lines[name] ?? ''}\n`
  return [
    profile === '' ? '' : `profile = '${profile}'`,
    table(
      'network',
      `rpc_url = 'http://127.0.0.1:8545'
indexer_url = 'http://127.0.0.1:1'
decider_url = 'http://127.0.0.1:2'
chain_id = 31337
token = ${address('7')}
verifier = ${address('8')}
hub = ${address('9')}
`,
    ),
    table('settlement', `treasury = ${address('1')}\njournal = 'none'\n`),
    table('listen'),
    table('daemon'),
  ].join('\n')
}
