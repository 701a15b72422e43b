/** The message that a wallet signs to log in (EIP-4361). Nothing in it is chosen by the caller but the address. */
import { type Address, parseAddress, toChecksum, type UnixSeconds } from '@svc-zerc20/protocol'

/** How long a wallet may take to sign. */
const loginSeconds = 300

/** Where the login belongs to. A wallet shows the domain, and warns when another site asks for the signature. */
export type LoginPlace = { readonly domain: string; readonly uri: string; readonly chainId: number }

export type LoginMessage = {
  readonly address: Address
  readonly nonce: string
  readonly issuedAt: UnixSeconds
}

export function placeOf(url: string, chainId: number): LoginPlace {
  return { domain: new URL(url).host, uri: `${url}/history/login`, chainId }
}

export const expiryOf = ({ issuedAt }: Pick<LoginMessage, 'issuedAt'>) =>
  (issuedAt + loginSeconds) as UnixSeconds

export const writeMessage = (place: LoginPlace, message: LoginMessage): string =>
  [
    `${place.domain} wants you to sign in with your Ethereum account:`,
    toChecksum(message.address),
    '',
    'Read the payment history of this account. It costs nothing and moves no money.',
    '',
    `URI: ${place.uri}`,
    'Version: 1',
    `Chain ID: ${place.chainId}`,
    `Nonce: ${message.nonce}`,
    `Issued At: ${timeText(message.issuedAt)}`,
    `Expiration Time: ${timeText(expiryOf(message))}`,
  ].join('\n')

/** Undefined for every text that `writeMessage` does not write for this place, down to the last character. */
export function readMessage(place: LoginPlace, text: string): LoginMessage | undefined {
  const lines = text.split('\n', lineCount + 1)
  const address = parseAddress(lines[1])
  const [nonce, issuedText] = [valueIn(lines, 'Nonce'), valueIn(lines, 'Issued At')]
  const issuedAt = (Date.parse(issuedText) / 1000) as UnixSeconds
  if (!address || !/^[0-9a-f]{8,128}$/.test(nonce) || !Number.isSafeInteger(issuedAt)) return undefined
  const message = { address, nonce, issuedAt }
  return issuedAt < secondsMax && writeMessage(place, message) === text ? message : undefined
}

const lineCount = 11

/** The end of the year 9999. Later times are written in another form. */
const secondsMax = 253_402_300_800 - loginSeconds

const timeText = (seconds: number) => new Date(seconds * 1000).toISOString()

const valueIn = (lines: readonly string[], name: string): string =>
  lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? ''
