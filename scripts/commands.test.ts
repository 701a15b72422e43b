/** Every npm script starts, and every command that a document names is one that there is, with the options it names. */
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { listFiles, readText, root } from './source-files.js'

const run = promisify(execFile)
const scripts: Readonly<Record<string, string>> = JSON.parse(readText('package.json')).scripts

/** What a script says to `--help`. */
const answers: Readonly<Record<string, RegExp>> = {
  start: /^Usage: npm start/,
  devnet: /^Usage: svc-devnet/,
  facilitator: /^Usage: svc-facilitator/,
  indexer: /^Usage: svc-indexer/,
  pay: /^Usage: svc-pay/,
  privacy: /^Usage: privacy/,
  bench: /^Usage: npm run bench -- \[--quick\]/,
  'bench:finalize': /^Usage: npm run bench:finalize/,
  circuits: /^npm run circuits --/,
  ceremony: /^npm run ceremony --/,
  gen: /^Usage: npm run gen/,
  pack: /^Usage: npm run pack/,
  build: /^Usage: npm run build/,
  check: /^Usage: npm run check/,
  format: /npm run format/,
  test: /^Usage: npm test/,
  'test:packages': /^Usage: npm run test:packages/,
  'test:scripts': /^Usage: npm run test:scripts/,
}

/** As npm runs it, but without npm, whose own start takes longer than that of most commands. */
const help = (script: string, cwd = root) =>
  run('sh', ['-c', `${scripts[script]} --help`], { cwd }).then(({ stdout }) => stdout)

const printed = new Map<string, string>()
beforeAll(async () => {
  const print = async (script: string) =>
    void printed.set(script, await help(script).catch((error) => `${error}`))
  await Promise.all(Object.keys(answers).map(print))
})

describe('npm scripts', () => {
  it.each(Object.entries(answers))('npm run %s -- --help answers', (script, answer) => {
    expect(printed.get(script)).toMatch(answer)
  })

  it('every npm script is among them, or runs one part of the tests', () => {
    const others = Object.keys(scripts).filter((name) => !(name in answers))
    expect(others.filter((name) => !name.startsWith('test:'))).toEqual([])
  })

  it('every npm script answers in a clone in which nothing was installed, and installs nothing for it', async () => {
    const clone = mkdtempSync(join(tmpdir(), 'svc-clone-'))
    try {
      for (const path of ['package.json', 'scripts', 'docs/reference'])
        cpSync(join(root, path), join(clone, path), { recursive: true })
      await Promise.all(
        Object.keys(answers).map(async (script) => expect(await help(script, clone)).toMatch(/^Usage: /)),
      )
      expect(readdirSync(clone).sort()).toEqual(['docs', 'package.json', 'scripts'])
    } finally {
      rmSync(clone, { recursive: true })
    }
  })

  it('a command answers from what is built, and neither installs nor builds first, whatever was changed since', async () => {
    const clone = mkdtempSync(join(tmpdir(), 'svc-clone-'))
    try {
      cpSync(join(root, 'scripts'), join(clone, 'scripts'), { recursive: true })
      for (const folder of ['packages/protocol/dist', 'tools/observer/dist'])
        mkdirSync(join(clone, folder), { recursive: true })
      writeFileSync(join(clone, 'package.json'), '{ "type": "module" }')
      writeFileSync(join(clone, 'tools/observer/dist/main.js'), "console.log('built before')")
      expect(await help('privacy', clone)).toBe('built before\n')
      expect(existsSync(join(clone, 'node_modules'))).toBe(false)
    } finally {
      rmSync(clone, { recursive: true })
    }
  })

  it.each(Object.entries(scripts))('npm run %s names only what there is: %s', (_name, text) => {
    for (const part of text.split('&&')) {
      const [program = '', first = '', second = ''] = part.trim().split(' ')
      if (program === 'npm')
        expect(scripts).toHaveProperty([first === 'run' ? second.replace('-s', 'build') : first])
      else if (program === 'node')
        for (const file of [first, second].filter((word) => word.includes('/')))
          expect(existsSync(join(root, file)), file).toBe(true)
      else expect(existsSync(join(root, 'node_modules/.bin', program)), program).toBe(true)
    }
  })

  it('scripts that run part of the tests name projects and folders that there are', () => {
    const projects = Object.values(scripts).flatMap((text) => [...text.matchAll(/--project (\S+)/g)])
    const config = readText('vitest.config.ts')
    for (const [, name] of projects) expect(config).toContain(`name: '${name}'`)
    const paths = ['test', 'test-packages'].flatMap((name) => [
      ...readText(`scripts/${name}.mjs`).matchAll(/'((?:test|packages|contracts)\/[^']+)'/g),
    ])
    expect(paths.length).toBeGreaterThan(4)
    for (const [, path = ''] of paths)
      expect(
        listFiles(/\.test\.ts$/).some((file) => file.startsWith(path)),
        path,
      ).toBe(true)
  })

  const benches = listFiles(/^tools\/bench\/src\/commands\/.*\.ts$/)
    .filter((file) => /\bparseArgs\(/.test(readText(file)))
    .map((file) => file.replace('/src/', '/dist/').replace(/\.ts$/, '.js'))
  it('every bench tells its options, and measures nothing for it', async () => {
    expect(benches).toHaveLength(3)
    for (const file of benches) {
      const { stdout } = await run(process.execPath, [join(root, file), '--help'])
      expect(stdout).toMatch(/^Usage: (?:npm run bench|node tools\/bench)/)
    }
  })

  it('every bench loads, and measures nothing when its options are wrong', async () => {
    // In one process, because they share most of what they load.
    const load = `for (const file of ${JSON.stringify(benches)})
      await import(\`${root}/\${file}\`).then(() => console.log('ran'), ({ message }) => console.log(message))`
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', load, '--', '--none'])
    expect(stdout.match(/^Unknown option '--none'/gm)).toHaveLength(benches.length)
  })
})

describe('documented commands', () => {
  const pages = listFiles(
    /^(?:[A-Z]+\.md|docs\/(?:README|guides\/.*|concepts\/.*)\.md|packages\/[^/]+\/README\.md|deploy\/.*\.md)$/,
  )
  const commands = pages
    .filter((page) => page !== 'CHANGELOG.md')
    .flatMap((page) => commandsIn(readText(page)).map((command) => ({ page, command })))

  it('are found', () => {
    expect(commands.length).toBeGreaterThan(80)
    expect(new Set(commands.map(({ page }) => page))).toContain('README.md')
  })

  it('are npm scripts, files and programs that there are, with options that they have', () => {
    const helps = helpPages()
    const faults = commands.flatMap(({ page, command }) => {
      const fault = faultOf(command, helps)
      return fault === undefined ? [] : [`${page}: ${command}: ${fault}`]
    })
    expect(faults).toEqual([])
  })

  it('take no other folder by npm, and no sample of code names a port: whoever listens there would get what is for another', () => {
    const faults = pages.filter((page) =>
      /--prefix|'http:\/\/127\.0\.0\.1:(?:40\d\d|8545)/.test(readText(page)),
    )
    expect(faults).toEqual([])
    const clients = pages.filter((page) =>
      /guides\/(?:sell|pay)-|packages\/(?:payer|resource-server)/.test(page),
    )
    expect(clients.filter((page) => readText(page).includes(':4032'))).toEqual([])
  })

  it('a client of MCP shares its state folder with the shell, or approvals and totals would be in two places', () => {
    const samples = pages.flatMap((page) =>
      [...readText(page).matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = '']) => text),
    )
    const clients = samples.filter((text) => text.includes('"mcpServers"'))
    expect(clients.length).toBeGreaterThan(0)
    for (const text of clients)
      expect(JSON.parse(text).mcpServers['svc-pay'].env).toHaveProperty('SVC_STATE_DIR')
  })

  it('a command that is not there is noticed', () => {
    const helps = helpPages()
    expect(faultOf('svc-pay buy URL', helps)).toMatch(/no command buy/)
    expect(faultOf('svc-facilitator check --confg FILE', helps)).toMatch(/no option --confg/)
    expect(faultOf('npm run privat', helps)).toMatch(/no script/)
    expect(faultOf('npm install @svc-zerc20/payer', helps)).toMatch(/not published/)
    expect(faultOf(['npx', 'svc-pay pay URL'].join(' '), helps)).toMatch(/scope/)
    expect(faultOf('node examples/dist/nothing.js', helps)).toMatch(/no file/)
  })

  /** The help of every command, from the reference, which another test keeps true, and from the runs above. */
  function helpPages(): ReadonlyMap<string, string> {
    const pages = ['command-line', 'svc-pay', 'svc-devnet'].map((name) =>
      readText(`docs/reference/${name}.md`),
    )
    const sections = pages.flatMap((page) => [...page.matchAll(/^#+ `([^`]+)`\n\n```text\n([\s\S]*?)```/gm)])
    return new Map([
      ...sections.map(([, name = '', text = '']) => [name, text] as const),
      ['svc-indexer', printed.get('indexer') ?? ''],
      ['privacy', printed.get('privacy') ?? ''],
      ['npm start', `${printed.get('start')}`],
    ])
  }
})

/** Commands in blocks of code and in the text, each without its comment and its place in a pipe. */
function commandsIn(page: string): string[] {
  const blocks = [...page.matchAll(/```(?:sh|text)\n([\s\S]*?)```/g)].map(([, text = '']) => text)
  const prose = page.replace(/```[\s\S]*?```/g, '')
  const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text.replaceAll('\n', ' '))
  return [...blocks, ...spans]
    .flatMap((text) =>
      text
        .replaceAll('\\\n', ' ')
        .replaceAll('../svc-zerc20/', '')
        .split(/\n|;|&&?|\||\$\(|\)/),
    )
    .map((line) =>
      line
        .replace(/\s#.*$/, '')
        .replace(/^(?:\s|\$ |sudo |until |do |if |[A-Z_]+=\S+ )+/, '')
        .trim(),
    )
    .filter((line) => /^(?:npm (?:run|start|test|install)|npx|svc-\w+ |node \w+\/)/.test(line))
}

const programs: Readonly<Record<string, string>> = {
  pay: 'svc-pay',
  facilitator: 'svc-facilitator',
  indexer: 'svc-indexer',
  devnet: 'svc-devnet',
  privacy: 'privacy',
  payer: 'svc-pay',
}

function faultOf(command: string, helps: ReadonlyMap<string, string>): string | undefined {
  const [program = '', ...words] = command.split(/\s+/)
  if (program === 'npm' && words[0] === 'run') {
    const [script = '', ...rest] = words.slice(1).filter((word) => word !== '-s' && word !== '--silent')
    if (!(script in scripts)) return 'there is no script of that name'
    const dashes = rest.indexOf('--')
    return dashes < 0 || !(script in programs)
      ? undefined
      : wordsFault(programs[script] ?? '', rest.slice(dashes + 1), helps)
  }
  if (program === 'npm' && words[0] === 'start') return wordsFault('npm start', words.slice(2), helps)
  if (program === 'npm' && words[0] === 'install')
    return words.some((word) => word.startsWith('@svc-zerc20/')) ? 'the package is not published' : undefined
  if (program === 'npx') {
    const scoped = /^@svc-zerc20\/(\w+)$/.exec(words[0] ?? '')?.[1]
    if (words[0]?.startsWith('svc-')) return 'npx wants the scope in front of the name'
    return scoped === undefined ? undefined : wordsFault(programs[scoped] ?? scoped, words.slice(1), helps)
  }
  if (program === 'node') {
    const command = /bin\/(svc-\w+)\.mjs$/.exec(words[0] ?? '')?.[1]
    if (!existsSync(join(root, words[0] ?? ''))) return `there is no file ${words[0]}`
    return command === undefined ? undefined : wordsFault(command, words.slice(1), helps)
  }
  return helps.has(program) ? wordsFault(program, words, helps) : undefined
}

/** Follows the names of inner commands, then looks for every option in the help of the last one. */
function wordsFault(
  program: string,
  words: readonly string[],
  helps: ReadonlyMap<string, string>,
): string | undefined {
  let name = program
  let place = 0
  while (helps.has(`${name} ${words[place]}`)) {
    name = `${name} ${words[place]}`
    place += 1
  }
  const text = helps.get(name)
  if (text === undefined) return `there is no command ${program}`
  const next = words[place]
  if (/^Commands:/m.test(text) && next !== undefined && /^[a-z]/.test(next))
    return `${name} has no command ${next}`
  const options = words.slice(place).filter((word) => /^--?[a-z]/.test(word))
  const unknown = options.find((option) => !new RegExp(`(?:^|[\\s,])${option}(?![\\w-])`, 'm').test(text))
  return unknown === undefined ? undefined : `${name} has no option ${unknown}`
}
