/** What became of a text: its value, or what is wrong with it. */
export type Reading<T> = { readonly value: T } | { readonly fault: string }
