/** Formats `host:port` of a command socket. */
export function commandAddress(host: string, port: number): string {
  return `${host.toLowerCase()}:${port}`;
}
