/** Measurements as a page: what a tool writes into the file, and the page draws. */
export type Report = {
  readonly title: string
  readonly lead: string
  readonly sections: readonly Section[]
}

export type Section = {
  readonly heading: string
  readonly text: string
  readonly bars?: Bars
  readonly points?: Points
  readonly table?: Table
}

/** Values side by side. */
export type Bars = {
  readonly unit: string
  readonly rows: readonly Bar[]
}

export type Bar = {
  readonly label: string
  readonly value: number
  /** Ours stands out among others. */
  readonly isOurs?: boolean
}

/** Values against each other. Each point has a number, which the table beside it explains. */
export type Points = {
  readonly x: string
  readonly y: string
  readonly at: readonly {
    readonly label: string
    readonly x: number
    readonly y: number
    readonly isOurs?: boolean
  }[]
}

export type Table = { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] }
