/** How a seller's pages look. Everything is checked when a route is set up, and nothing when a page is shown. */
import { inTokens, SvcError, type TokenLabel } from '@svc-zerc20/protocol'

export type PaywallLook = {
  /** Name of the seller. */
  readonly name?: string
  /** A `data:image/…` URL, or a path on the seller's own origin. Pages load nothing from elsewhere. */
  readonly logo?: string
  /** Colour of buttons and progress, as `#rrggbb`. The text on it is black or white, whichever is easier to read. */
  readonly accent?: string
  /**
   * The token's symbol and decimals, so that the price is in tokens from the start. Default: what the facilitator says. An
   * older one says nothing: the price is then in base units until a wallet is connected, which asks the token.
   */
  readonly token?: TokenLabel
}

const invalid = (message: string) => new SvcError('invalid_paywall', `paywall.${message}`)

export function assertLook({ logo, accent, token }: PaywallLook): void {
  if (logo !== undefined && !/^(?:data:image\/[\w.+-]+[;,]|\/(?!\/))/.test(logo)) {
    throw invalid('logo must be a data:image/… URL or a path that begins with one slash')
  }
  if (accent !== undefined && !/^#[0-9a-f]{6}$/i.test(accent)) throw invalid('accent must be #rrggbb')
  if (token !== undefined && inTokens(1n, token) === undefined) {
    throw invalid('token.decimals must be a whole number up to 77')
  }
}

/** The rule that puts the seller's colour over ours, in both themes. */
export function accentStyle(accent: string | undefined): string {
  if (accent === undefined) return ''
  return `:root:root{--accent:${accent};--on-accent:${isLight(accent) ? '#000' : '#fff'}}`
}

/** Black on a colour is easier to read than white from this luminance on (WCAG 2). */
const evenLuminance = 0.179

function isLight(accent: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(accent.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > evenLuminance
}
