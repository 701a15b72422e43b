/** Hosts that only this machine can reach. */
const names = new Set(['localhost', '::1', '[::1]'])

/** Whether a host in a URL or a bind address is reachable from this machine only. */
export const isLoopback = (host: string): boolean =>
  names.has(host) || /^127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(host)
