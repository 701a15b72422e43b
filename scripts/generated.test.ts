import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const script = fileURLToPath(new URL('gen.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'svc-gen-'))

afterAll(() => rmSync(folder, { recursive: true }))

function gen(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
  return { status, stdout, stderr }
}

// Each test starts processes, which is slow on a busy machine.
describe('generated files', () => {
  it('say what their sources say', () => {
    expect(gen('--check')).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  it('are written where they are missing, and the same again; one that was edited by hand fails the check', () => {
    expect(gen('--into', folder).stdout).toContain('wrote docs/reference/reasons.md\n')
    appendFileSync(join(folder, 'docs/reference/reasons.md'), 'edited\n')
    const { status, stdout } = gen('--check', '--into', folder)
    expect({ status, stdout }).toEqual({ status: 1, stdout: 'drifted docs/reference/reasons.md\n' })
  })
})

describe('the worked example of docs/reference/protocol.md', () => {
  const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
  const page = read('docs/reference/protocol.md')
  const headers: { accepted: { name: string; text: string; header: string }[] } = JSON.parse(
    read('test/vectors/protocol/headers.json'),
  )

  // The words after a block's language name its vector: "```json PAYMENT-RESPONSE: accepted".
  const blocks = [...page.matchAll(/^```json (.+)\n([\s\S]*?)^```$/gm)].map(([, name, text]) => ({
    name: name ?? '',
    text: text ?? '',
  }))

  it('shows the 402, both payments and the answer', () => {
    expect(blocks.map(({ name }) => name)).toEqual(headers.accepted.slice(0, 4).map(({ name }) => name))
  })

  it.each(blocks)('has the values of the vector $name', ({ name, text }) => {
    const vector = headers.accepted.find((entry) => entry.name === name)
    expect(JSON.parse(text)).toEqual(JSON.parse(vector?.text ?? 'null'))
  })

  it('has only valid JSON in its blocks', () => {
    for (const [, text] of page.matchAll(/^```json.*\n([\s\S]*?)^```$/gm)) {
      expect(() => JSON.parse(text ?? '')).not.toThrow()
    }
  })
})
