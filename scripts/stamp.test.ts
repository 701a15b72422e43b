import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isBuilt, noteBuild, sourcesOf } from './stamp.mjs'

describe('the stamp of a build', () => {
  let root: string
  const write = (path: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), path)
  }
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'svc-stamp-'))
    for (const path of ['src/main.ts', 'src/look.css', 'src/main.test.ts', 'dist/main.js', 'bundle/main.js'])
      write(`packages/one/${path}`)
    write('node_modules/one/package.json')
    noteBuild(root, sourcesOf(root))
  })
  afterEach(() => rmSync(root, { recursive: true }))

  it('holds while nothing changes, and when a test or what is installed does', () => {
    expect(isBuilt(root)).toBe(true)
    write('packages/one/src/other.test.ts')
    write('packages/one/node_modules/two/src/main.ts')
    utimesSync(join(root, 'packages/one/src/main.test.ts'), 1, 1)
    expect(isBuilt(root)).toBe(true)
  })

  it.each(['src/main.ts', 'src/look.css'])('no longer holds when %s is changed', (path) => {
    utimesSync(join(root, 'packages/one', path), 1, 1)
    expect(isBuilt(root)).toBe(false)
  })

  it('no longer holds when a source comes or goes, or something that was built has gone', () => {
    write('packages/one/src/more.ts')
    expect(isBuilt(root)).toBe(false)
    rmSync(join(root, 'packages/one/src/more.ts'))
    expect(isBuilt(root)).toBe(true)
    rmSync(join(root, 'packages/one/bundle/main.js'))
    expect(isBuilt(root)).toBe(false)
  })

  it('does not hold for a source that was changed during the build', () => {
    const sources = sourcesOf(root)
    write('packages/one/src/late.ts')
    noteBuild(root, sources)
    expect(isBuilt(root)).toBe(false)
  })
})
