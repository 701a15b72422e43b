/** House rules that a machine can check. Format, lint and types are for `npm run check`. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { errorCodes } from '../packages/protocol/src/error-codes.js'
import { listFiles, productFiles, readText, root } from './source-files.js'

/** Effects that only one file of a package may use. All other files get them as arguments. */
const confined: { readonly what: RegExp; readonly where: RegExp }[] = [
  { what: /\bDate\.now\(|\bnew Date\(\)/, where: /\/system-clock\.ts$|^tools\/bench\/|^examples\// },
  { what: /\bMath\.random\(/, where: /^$/ },
  { what: /\bconsole\./, where: /^$/ },
  { what: /\bURL\.canParse\(/, where: /^$/ },
  {
    what: /\bprocess\.env\b/,
    where: /\/environment\.ts$|\/env\.ts$|\/child\.ts$|^examples\/|^tools\/bench\//,
  },
]

const roomsMax = 13

describe('house rules', () => {
  it.each(confined)('$what stands only where it belongs', ({ what, where }) => {
    const elsewhere = productFiles().filter((file) => !where.test(file) && what.test(readText(file)))
    expect(elsewhere).toEqual([])
  })

  it('has no file called utils and no leftover markers', () => {
    const files = listFiles(/\.(?:ts|mjs|sol)$/).filter((file) => file !== 'scripts/tidy.test.ts')
    expect(files.filter((file) => /\/utils?\./.test(file))).toEqual([])
    expect(files.filter((file) => /\b(?:TODO|FIXME|XXX)\b/.test(readText(file)))).toEqual([])
  })

  it('has no package with more rooms than a newcomer holds in mind', () => {
    const rooms = new Map<string, Set<string>>()
    for (const file of productFiles()) {
      const [, workspace, room] = /^((?:packages|tools)\/[^/]+|circuits)\/src\/([^/]+)\//.exec(file) ?? []
      if (workspace === undefined || room === undefined) continue
      rooms.set(workspace, (rooms.get(workspace) ?? new Set()).add(room))
    }
    const crowded = [...rooms].filter(([, { size }]) => size > roomsMax).map(([workspace]) => workspace)
    expect(crowded).toEqual([])
  })

  it('waits for a receipt only in ways that see the last block of a chain that mines on demand', () => {
    const waits = /waitForTransactionReceipt\((?!.*checkReplacement: false|args)/
    expect(listFiles(/\.(?:ts|mjs)$/).filter((file) => waits.test(readText(file)))).toEqual([])
  })

  it('names only built files whose sources exist, because an old build hides a file that was moved', () => {
    const missing = listFiles(/^(?:packages|tools|circuits|contracts|test)\/.*\.(?:ts|mjs)$/).flatMap(
      (file) => {
        const built = [
          ...[...readText(file).matchAll(/'((?:\.\.\/)+)dist\/([\w/-]+)\.js'/g)].map(([, up = '', path]) =>
            join(dirname(file), up, 'src', `${path}.ts`),
          ),
          ...[...readText(file).matchAll(/\bbuiltModule\('([\w/-]+)'\)/g)].map(([, path]) =>
            join(file.slice(0, file.indexOf('/src/')), 'src', `${path}.ts`),
          ),
        ]
        return built.filter((source) => !existsSync(join(root, source))).map((source) => `${file}: ${source}`)
      },
    )
    expect(missing).toEqual([])
  })

  it('writes properties as properties, and spreads no literal to save lines', () => {
    const spread = /\.\.\.\{/
    expect(listFiles(/\.(?:ts|mjs)$/).filter((file) => spread.test(readText(file)))).toEqual([])
  })

  it('has no error code that nothing throws', () => {
    const sources = productFiles().filter((file) => !file.endsWith('/error-codes.ts'))
    const text = sources.map(readText).join()
    expect(Object.keys(errorCodes).filter((code) => !text.includes(`'${code}'`))).toEqual([])
  })

  it('skips and focuses no test', () => {
    const focused = /\b(?:it|test|describe)\.(?:skip|only|todo)\b/
    expect(listFiles(/\.test\.ts$/).filter((file) => focused.test(readText(file)))).toEqual([])
  })

  it('names only paths and headings that exist, in all documents', () => {
    const idOf = (heading = '') =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-')
    const isThere = (path: string, id = '') =>
      existsSync(join(root, path)) &&
      (id === '' || [...readText(path).matchAll(/^#+ (.*)$/gm)].some(([, heading]) => idOf(heading) === id))
    const ours = /^(?:circuits|contracts|deploy|docs|examples|packages|scripts|test|tools)\/(?!.*\/results\/)/
    const missing = listFiles(/\.md$/).flatMap((document) => {
      const paths = [...readText(document).matchAll(/`([\w.-]+(?:\/[\w.-]+)+\/?)`/g)]
        .map(([, path = '']) => path)
        .filter((path) => ours.test(path) && !isThere(path))
      const links = [...readText(document).matchAll(/\]\(([\w./-]*)(?:#([\w-]+))?\)/g)]
        .filter(([, to, id]) => !isThere(to ? join(dirname(document), to) : document, id))
        .map(([link]) => link)
      return [...paths, ...links].map((what) => `${document}: ${what}`)
    })
    expect(missing).toEqual([])
  })

  it("answers a newcomer's questions with two paths at most, each of which exists below its heading", () => {
    const [, map = '', recipes = ''] =
      /## Where is what\n(.*?)\n## .*\n## Recipes\n(.*)/s.exec(readText('AGENTS.md')) ?? []
    const answersIn = (section: string) =>
      section.split(/^### `/m).flatMap((part) => {
        const below = join(root, part.slice(0, part.indexOf('`')))
        const answers = part.split(/^- /m).slice(1)
        return answers.map((answer) => {
          const named = answer.matchAll(/`((?:[\w.-]+\/)+[\w.-]*|[\w-]+\.ts)`/g)
          const paths = [...named].map((match) => match[1] ?? '')
          return { answer, paths, missing: paths.filter((path) => !existsSync(join(below, path))) }
        })
      })
    expect(answersIn(map).length).toBeGreaterThan(20)
    for (const { answer, paths } of answersIn(map)) {
      expect(paths.length, answer).toBeGreaterThan(0)
      expect(paths.length, answer).toBeLessThanOrEqual(2)
    }
    expect([...answersIn(map), ...answersIn(recipes)].flatMap(({ missing }) => missing)).toEqual([])
  })

  it('documents no npx with a bare name, which the public registry may answer', () => {
    const bare = /\bnpx (?:-\S+ )*svc-|"npx",\s*"args": \[(?:"-[^"]*", )*"svc-/
    const shown = listFiles(/\.(?:md|ts|mjs|toml|service)$|Containerfile$/)
    expect(shown.filter((file) => bare.test(readText(file)))).toEqual([])
  })
})
