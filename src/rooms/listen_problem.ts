/** Why nobody could listen, for the operator. */
export function listenProblem(error: unknown, address: string, port: number): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") return `port ${port} on ${address} is taken by another process`;
  if (code === "EACCES") return `port ${port} on ${address} needs a privilege (ports below 1024 do)`;
  return `cannot listen on ${address}, port ${port}: ${error instanceof Error ? error.message : error}`;
}
