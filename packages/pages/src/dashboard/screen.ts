/** What a screen is, and what all of them know. */
import type { Token } from '../format.js'
import type { Part } from '../parts.js'
import type { AdminAnswers, ScreenQueries, Status } from './api.js'

/** The answers that are there. */
export type Answers = { readonly [Name in keyof AdminAnswers]?: AdminAnswers[Name] }

export type Seen = Answers & {
  readonly status: Status
  readonly token: Token | undefined
  /** What stands behind the name of the screen in the address, such as a nonce. */
  readonly rest: string
  /** Unix seconds of the facilitator. */
  readonly now: number
}

export type Screen = {
  readonly title: string
  asks(rest: string, nowSeconds: number): ScreenQueries
  draw(seen: Seen): Part[]
}
