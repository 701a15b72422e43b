/** The files in deploy/ name what exists, agree with the daemon, and stay hardened. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { exitCodes } from '../packages/daemon/src/exit-codes.js'
import { daemonNodeFlags } from '../packages/devnet/src/network/services.js'
import { openApiDocument } from '../packages/facilitator/src/http/document.js'
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

describe('deploy/compose.yaml', () => {
  type Service = Readonly<Record<string, unknown>> & {
    readonly depends_on?: object
    readonly volumes?: string[]
  }
  type Compose = Readonly<Record<'services' | 'networks' | 'volumes' | 'secrets', Record<string, Service>>>
  const text = readText('deploy/compose.yaml')
  const { services, networks, volumes, secrets } = parse(text, { merge: true }) as Compose
  const ours = ['facilitator-a', 'facilitator-b', 'indexer']

  it('runs two facilitators that differ in nothing, a database, an indexer and a proxy', () => {
    expect(Object.keys(services).sort()).toEqual([...ours, 'postgres', 'proxy'].sort())
    expect(services['facilitator-a']).toEqual(services['facilitator-b'])
    expect(services['facilitator-a']).toMatchObject({ build: { dockerfile: 'deploy/Containerfile' } })
  })

  it.each(ours)('keeps %s from writing outside its volume, and from gaining rights', (name) => {
    expect(services[name]).toMatchObject({
      image: 'svc-facilitator',
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges'],
      restart: 'unless-stopped',
      stop_grace_period: '30s',
    })
  })

  it('names only what is declared, and what the image has', () => {
    for (const { depends_on = {}, networks: joined = [], volumes: mounted = [] } of Object.values(services)) {
      const needed = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on)
      for (const name of needed) expect(services).toHaveProperty(name)
      const names = Array.isArray(joined) ? joined : Object.keys(Object(joined))
      for (const name of names) expect(networks).toHaveProperty(name)
      for (const mount of mounted.filter((each) => !each.startsWith('.'))) {
        expect(volumes).toHaveProperty(mount.split(':')[0] ?? '')
      }
    }
    const [, command] = (services.indexer?.entrypoint ?? []) as string[]
    expect(existsSync(join(root, command ?? ''))).toBe(true)
    expect(readText('deploy/Containerfile')).toContain('packages/indexer/bin packages/indexer/bin')
    // Without a key and proving keys it proves no root, and nothing would ever be minted.
    const { command: options, volumes: mounts } = services.indexer as { command: string[]; volumes: string[] }
    const artifacts = options[options.indexOf('--artifacts') + 1]
    expect(mounts).toContain(`./artifacts:${artifacts}:ro`)
    expect(readText('docs/guides/run-several-facilitators.md')).toContain('SVC_INDEXER_PK')
  })

  it('lets only the proxy be reached from outside, and the database by nobody else', () => {
    expect(Object.keys(services).filter((name) => services[name]?.ports)).toEqual(['proxy'])
    expect(services.postgres?.networks).toEqual(['inside'])
    expect(networks.inside).toMatchObject({ internal: true })
  })

  it('holds no secret', () => {
    expect(text).not.toMatch(/0x[0-9a-f]{8}|SVC_\w*(?:PK|TOKEN|PASSWORD)|POSTGRES_PASSWORD:/i)
    expect(secrets).toEqual({ 'postgres-password': { file: 'postgres-password' } })
  })

  it('gives what the server was told before anybody hears of it', () => {
    expect(services.postgres?.command).toEqual(expect.arrayContaining(['fsync=on', 'synchronous_commit=on']))
  })
})

describe('deploy/Caddyfile', () => {
  const text = readText('deploy/Caddyfile')
  const words = (directive: string) =>
    (new RegExp(`^\\s*${directive} (.*?)(?: \\{)?$`, 'm').exec(text)?.[1] ?? '').split(' ')

  it('is in balance, and sends callers to the two facilitators alone', () => {
    expect(text.split(/\{(?!\$)/).length).toBe(text.replaceAll(/\{\$\w+\}/g, '').split('}').length)
    expect(words('reverse_proxy')).toEqual(['facilitator-a:4032', 'facilitator-b:4032'])
  })

  it('passes every public endpoint, and nothing of the administrative surface', () => {
    const { paths } = openApiDocument() as { paths: Record<string, object> }
    const passed = words('@public path')
    const isPassed = (path: string) =>
      passed.some((each) => (each.endsWith('/*') ? path.startsWith(each.slice(0, -1)) : each === path))
    for (const path of Object.keys(paths)) {
      if (path === '/openapi.json') continue
      expect([path, isPassed(path)]).toEqual([path, !path.startsWith('/admin')])
    }
    expect(isPassed('/metrics')).toBe(false)
  })
})
