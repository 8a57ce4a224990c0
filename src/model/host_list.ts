/** Splits a comma-separated list of hosts, such as `10.0.0.1, 10.0.0.2`. */
export function hostsOf(list: string): string[] {
  return list.split(",").map((host) => host.trim()).filter((host) => host !== "");
}
