import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../setup.mjs'
import { sections } from './rows.mjs'

/** A one-line string with a row id: the title of a test, or a part of a title from a table. */
const titled = /(['"`])((?:(?!\1)[^\n\\]|\\.)*\bR-\d{3}\b(?:(?!\1)[^\n\\]|\\.)*)\1/g
const solidity = /function test(?:Fuzz)?_(R_\d{3}_\w+)/g

/** Maps a row id to the tests whose titles contain it: `{ file, title }`. */
export function findTests() {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  const files = listed
    .split('\n')
    .filter((file) => /\.test\.ts$|\.t\.sol$/.test(file) && !file.startsWith('scripts/'))
    .filter((file) => existsSync(join(root, file)))
    .sort()
  const tests = new Map()
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8')
    const titles = file.endsWith('.sol')
      ? [...text.matchAll(solidity)].map(([, name]) =>
          name.replace(/^R_(\d{3})_/, 'R-$1 ').replaceAll('_', ' '),
        )
      : [...text.matchAll(titled)].map(([, , title]) => title.replaceAll(/\\(.)/g, '$1'))
    for (const title of titles) {
      for (const [id] of title.matchAll(/R-\d{3}/g)) {
        tests.set(id, [...(tests.get(id) ?? []), { file, title }])
      }
    }
  }
  return tests
}

function testsCell(tests) {
  const byFile = new Map()
  for (const { file, title } of tests) {
    const sentence = title
      .replaceAll(/\bR-\d{3}\b[ :]*/g, '')
      .replaceAll('|', '\\|')
      .trim()
    byFile.set(file, new Set([...(byFile.get(file) ?? []), ...(sentence === '' ? [] : [sentence])]))
  }
  return [...byFile]
    .map(([file, titles]) => {
      const name = file.replace(/^packages\/|\/src(?=\/)/g, '')
      return `[${name}](../../${file})${titles.size > 0 ? `: ${[...titles].join(' · ')}` : ''}`
    })
    .join('<br>')
}

/** docs/reference/conformance.md */
export function renderConformance() {
  const tests = findTests()
  const parts = Object.entries(sections).map(([section, rows]) => {
    const lines = Object.entries(rows).map(
      ([id, text]) => `| ${id} | ${text} | ${testsCell(tests.get(id) ?? [])} |`,
    )
    return `## ${section}\n\n| row | promise | tests |\n|---|---|---|\n${lines.join('\n')}\n`
  })
  return `<!-- Generated from scripts/gen/rows.mjs and the names of tests by \`npm run gen\`. Do not edit. -->

# Conformance

Each row is a promise of the service, with the tests that prove it. The name of a test contains the ids of the rows that it
proves. A row without a test fails \`scripts/rows.test.ts\`.

${parts.join('\n')}`
}
