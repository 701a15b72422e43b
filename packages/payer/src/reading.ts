/** The result of reading a text: its value, or a description of its fault. */
export type Reading<T> = { readonly value: T } | { readonly fault: string }
