/** Where a daemon that listens there is asked from this machine. */
export function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}
