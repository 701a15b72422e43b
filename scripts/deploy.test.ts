/** The files in deploy/ name what exists, agree with the daemon, and stay hardened. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exitCodes } from '../packages/daemon/src/exit-codes.js'
import { daemonNodeFlags } from '../packages/devnet/src/network/services.js'
import { listFiles, readText, root } from './source-files.js'

const entry = 'packages/facilitator/bin/svc-facilitator.mjs'

describe('deploy/svc-facilitator.service', () => {
  const lines = readText('deploy/svc-facilitator.service').split('\n')
  const valuesOf = (key: string) =>
    lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1))
  const lastOf = (key: string) => valuesOf(key).at(-1)

  it('starts the built command with the option it takes', () => {
    expect(lastOf('ExecStart')).toBe(
      `/usr/bin/node ${daemonNodeFlags.join(' ')} /opt/svc-zerc20/${entry} start --config /etc/svc-facilitator/facilitator.toml`,
    )
    expect(existsSync(join(root, entry))).toBe(true)
  })

  it('may read the bundle as a user of its own, whoever built it', () => {
    expect(statSync(join(root, 'packages/facilitator/bundle')).mode & 0o055).toBe(0o055)
  })

  it('does not restart what a restart cannot fix, and waits longer than the grace', () => {
    expect(lastOf('Restart')).toBe('always')
    expect(lastOf('RestartPreventExitStatus')).toBe(`${exitCodes.mistake}`)
    expect(Number(lastOf('TimeoutStopSec')) * 1000).toBeGreaterThan(10_000)
  })

  it.each([
    ['DynamicUser', 'yes'],
    ['ProtectSystem', 'strict'],
    ['ProtectHome', 'yes'],
    ['NoNewPrivileges', 'yes'],
    ['CapabilityBoundingSet', ''],
    ['PrivateDevices', 'yes'],
    ['PrivateTmp', 'yes'],
    ['LimitCORE', '0'],
    ['UMask', '0077'],
    ['ReadWritePaths', '/var/lib/svc-facilitator'],
  ])('keeps %s=%s', (key, value) => {
    expect(valuesOf(key)).toEqual([value])
  })

  it('takes secrets from a file of root, and holds none', () => {
    expect(lastOf('EnvironmentFile')).toBe('/etc/svc-facilitator/secrets.env')
    expect(valuesOf('Environment')).toEqual([])
    expect(lines.join('\n')).not.toMatch(/0x[0-9a-f]{8}/i)
  })
})

describe('deploy/Containerfile', () => {
  const text = readText('deploy/Containerfile')
  const instructions = text
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const copied = instructions
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
    .flatMap((line) => line.split(' ').slice(1, -1))

  it.each(copied)('copies %s, which exists', (path) => {
    expect(existsSync(join(root, path))).toBe(true)
  })

  it('knows every workspace of the lock file, so that installing from it works', () => {
    const manifests = listFiles(/^(?:[\w-]+|packages\/[\w-]+)\/package\.json$/)
    expect(manifests.filter((file) => !copied.includes(file))).toEqual([])
  })

  it('takes into the image only what was built, and starts the command from there', () => {
    const taken = instructions.filter((line) => line.includes('--from=build'))
    for (const line of taken) expect(line).toMatch(/\/(?:package\.json|bin|bundle) /)
    expect(instructions).toContain(
      `ENTRYPOINT ${JSON.stringify(['node', ...daemonNodeFlags, entry]).replaceAll(',', ', ')}`,
    )
  })

  it('sends the builder what it copies', () => {
    const ignore = readText('deploy/Containerfile.dockerignore').split('\n')
    for (const path of copied) {
      expect(ignore.some((line) => line === `!${path}` || path.startsWith(`${line.slice(1)}/`))).toBe(true)
    }
  })

  it('runs as a user that is not root, without scripts of packages, with no secret inside', () => {
    const users = instructions.filter((line) => line.startsWith('USER '))
    expect(users).toEqual(['USER node'])
    expect(
      instructions.slice(instructions.indexOf('USER node')).some((line) => line.startsWith('COPY')),
    ).toBe(false)
    for (const line of instructions.filter((each) => each.includes('npm install'))) {
      expect(line).toContain('--no-save --ignore-scripts')
    }
    expect(text).not.toMatch(/SVC_\w+\s*=|ARG\s|0x[0-9a-f]{8}/i)
  })

  it('installs from the same Node.js line the repository asks for', () => {
    const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      engines: { node: string }
    }
    const major = /(\d+)/.exec(engines.node)?.[1]
    for (const line of instructions.filter((each) => /^FROM node/.test(each))) {
      expect(line).toContain(`node:${major}-`)
    }
  })
})
