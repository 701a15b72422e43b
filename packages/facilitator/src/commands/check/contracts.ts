/** Checks that the contracts are what the configuration says they are. */
import {
  hubAbi,
  permitBurnerAbi,
  permitBurnerRuntime,
  readRuntime,
  tokenAbi,
  verifierAbi,
} from '@svc-zerc20/contracts'
import { type Address, parseAddress, TypedData, toChecksum, zeroAddress } from '@svc-zerc20/protocol'
import { upstreamPowBits } from '@svc-zerc20/zk'
import type { PartialConfig } from '../../config/config.js'
import { type Finding, fail, ok, warn } from '../../config/finding.js'
import type { ChainView } from './chain-view.js'

type Probe = (view: ChainView, config: PartialConfig) => Promise<Finding[]>

/** Asks all contracts. Addresses that the configuration lacks are skipped. */
export async function probeContracts(view: ChainView, config: PartialConfig): Promise<Finding[]> {
  const probes: Probe[] = [probeTokenAndVerifier, probeHub, probeTreasury, probeHelper]
  const findings = await Promise.all(probes.map((probe) => probe(view, config)))
  return findings.flat()
}

const noCode = (key: string, address: Address): Finding => fail(key, `no contract at ${address}`)

/** What is wrong with a contract by itself, and the other one that it names, if it is such a contract at all. */
type Told = { readonly findings: Finding[]; readonly names?: Address | undefined }

/** One that is something else, or is not there, is one problem: what the other says of it is not another. */
async function probeTokenAndVerifier(view: ChainView, config: PartialConfig): Promise<Finding[]> {
  const { token, verifier } = config.network
  const [ofToken, ofVerifier] = await Promise.all([probeToken(view, config), probeVerifier(view, config)])
  const findings = [...ofToken.findings, ...ofVerifier.findings]
  const isPair = ofToken.names === verifier && ofVerifier.names === token
  if (isPair || ofToken.names === undefined || ofVerifier.names === undefined) return findings
  const told = [
    ofToken.names !== verifier && `the token lets only ${ofToken.names} mint`,
    ofVerifier.names !== token && `${verifier} belongs to the token ${ofVerifier.names}`,
  ].filter(Boolean)
  const apart = fail('network.verifier', `token and verifier are no pair: ${told.join(', and ')}`)
  return [...findings.filter(({ level }) => level !== 'ok'), apart]
}

async function probeToken(view: ChainView, { network, settlement }: PartialConfig): Promise<Told> {
  const { token, chain_id: chainId } = network
  if (token === undefined) return { findings: [] }
  const key = 'network.token'
  const [hasCode, name, hashChain, index, itsVerifier, separator, domain, nonce, owner, minter] =
    await Promise.all([
      view.hasCode(token),
      view.read(token, tokenAbi, 'name', []),
      view.read(token, tokenAbi, 'hashChain', []),
      view.read(token, tokenAbi, 'index', []),
      view.read(token, tokenAbi, 'verifier', []),
      view.read(token, tokenAbi, 'DOMAIN_SEPARATOR', []),
      view.read(token, tokenAbi, 'eip712Domain', []),
      view.read(token, tokenAbi, 'nonces', [zeroAddress]),
      view.read(token, tokenAbi, 'owner', []),
      view.read(token, tokenAbi, 'minter', []),
    ])
  if (!hasCode) return { findings: [noCode(key, token)] }
  if (hashChain === undefined || index === undefined) {
    const message = `${token} is no zERC20 token: it does not answer hashChain() and index()`
    return { findings: [fail(key, message)] }
  }
  const findings: Finding[] = []
  const isRelayed = settlement.permit_burner !== undefined
  const hasPermits = nonce !== undefined && separator !== undefined
  if (!name) {
    findings.push(fail(key, `${token} does not answer name(), which the daemon reads`))
  } else if (!hasPermits && isRelayed) {
    const lacks = 'it does not answer nonces() and DOMAIN_SEPARATOR(), as tokens of generation 2 do'
    findings.push(fail(key, `${token} has no permits, which settlement.permit_burner needs: ${lacks}`))
  } else if (hasPermits && chainId !== undefined && separator !== separatorOf(name, chainId, token)) {
    const told = domain && `; it tells name "${domain[1]}", version "${domain[2]}", chain ${domain[3]}`
    const message = `its EIP-712 domain is not name "${name}", version "1", chain ${chainId}, ${token}${told ?? ''}`
    findings.push((isRelayed ? fail : warn)(key, message))
  }
  const permits = hasPermits ? '' : ', no permits: payers burn by themselves'
  const good = ok(key, `"${name}" at ${token}, ${index} transfers${permits}${rolesOf({ owner, minter })}`)
  return { findings: findings.length > 0 ? findings : [good], names: parseAddress(itsVerifier) }
}

/** Accounts with special powers over a contract, such as its owner. Empty when the contract does not say. */
function rolesOf(roles: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(roles)
    .filter(([, holder]) => holder !== undefined)
    .map(([role, holder]) => `, ${role} ${holder === zeroAddress ? 'nobody' : holder}`)
    .join('')
}

const separatorOf = (name: string, chainId: number, token: Address): string =>
  TypedData.digestToHex(TypedData.domainSeparator(TypedData.permitDomain(name, chainId, token)))

async function probeVerifier(view: ChainView, { network, zerc20 }: PartialConfig): Promise<Told> {
  const { verifier } = network
  if (verifier === undefined) return { findings: [] }
  const key = 'network.verifier'
  const [hasCode, itsToken, emptyRoot, itsBits, paused, owner] = await Promise.all([
    view.hasCode(verifier),
    view.read(verifier, verifierAbi, 'token', []),
    view.read(verifier, verifierAbi, 'provedTransferRoots', [0n]),
    view.read(verifier, verifierAbi, 'powBits', []),
    view.read(verifier, verifierAbi, 'paused', []),
    view.read(verifier, verifierAbi, 'owner', []),
  ])
  if (!hasCode) return { findings: [noCode(key, verifier)] }
  const findings = judgePow(zerc20, itsBits)
  if (itsToken === undefined || emptyRoot === undefined) {
    const message = `${verifier} is no zERC20 verifier: it does not answer token() and provedTransferRoots()`
    return { findings: [fail(key, message), ...findings] }
  }
  if (paused) findings.push(warn(key, `${verifier} is paused: nothing can be minted until it is resumed`))
  const good = ok(key, `contract at ${verifier}${rolesOf({ owner })}`)
  return { findings: findings.length > 0 ? findings : [good], names: parseAddress(itsToken) }
}

/** Too many proof-of-work bits only cost time. With too few, a burn could never be minted. */
function judgePow({ pow_bits: bits }: PartialConfig['zerc20'], itsBits?: number): Finding[] {
  const key = 'zerc20.pow_bits'
  if (bits === undefined) return []
  if (itsBits !== undefined) {
    if (bits >= itsBits) return []
    return [fail(key, `is ${bits}, but the verifier asks for ${itsBits}: burns could never be minted`)]
  }
  const usual = upstreamPowBits[2]
  if (bits === usual) return []
  const message = `is ${bits}, where deployments ask for ${usual}; no contract tells it`
  return [warn(key, message)]
}

async function probeHub(view: ChainView, { network }: PartialConfig): Promise<Finding[]> {
  const { hub, token, verifier } = network
  if (hub === undefined) return []
  const key = 'network.hub'
  const [hasCode, infos, owner] = await Promise.all([
    view.hasCode(hub),
    view.read(hub, hubAbi, 'getTokenInfos', []),
    view.read(hub, hubAbi, 'owner', []),
  ])
  if (!hasCode) return [noCode(key, hub)]
  if (infos === undefined) return [warn(key, `${hub} does not answer getTokenInfos()`)]
  const known = infos.some(
    (info) => parseAddress(info.token) === token && parseAddress(info.verifier) === verifier,
  )
  return known
    ? [ok(key, `contract at ${hub}${rolesOf({ owner })}`)]
    : [warn(key, `${hub} does not know the token and verifier`)]
}

/** Reports where the money goes, because a mistake there can never be undone. */
async function probeTreasury(view: ChainView, { settlement }: PartialConfig): Promise<Finding[]> {
  const { treasury } = settlement
  if (treasury === undefined) return []
  const what = (await view.hasCode(treasury)) ? 'a contract' : 'an account'
  return [ok('settlement.treasury', `payments are minted to ${toChecksum(treasury)}, ${what}`)]
}

async function probeHelper(view: ChainView, { network, settlement }: PartialConfig): Promise<Finding[]> {
  const { permit_burner: helper } = settlement
  const key = 'settlement.permit_burner'
  if (helper === undefined) return []
  const [hasCode, code, domain] = await Promise.all([
    view.hasCode(helper),
    view.code(helper),
    view.read(helper, permitBurnerAbi, 'eip712Domain', []),
  ])
  if (!hasCode) return [noCode(key, helper)]
  if (domain === undefined) return [fail(key, `${helper} does not answer eip712Domain()`)]
  const [, name, version, chainId, contract] = domain
  const good =
    name === TypedData.burnerName &&
    version === TypedData.domainVersion &&
    parseAddress(contract) === helper &&
    (network.chain_id === undefined || chainId === BigInt(network.chain_id))
  if (!good) {
    const told = `${helper} signs as name "${name}", version "${version}", chain ${chainId}`
    return [fail(key, `${told}; that is no ${TypedData.burnerName}`)]
  }
  if (readRuntime(code, permitBurnerRuntime) === undefined) {
    const message = `the code at ${helper} is not our ${TypedData.burnerName}: our payers sign for it only where it is pinned`
    return [warn(key, message)]
  }
  return [ok(key, `${name} at ${helper}`)]
}
