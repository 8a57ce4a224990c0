/** The hosts of a list with commas between, as operators write several interfaces of one machine: `10.0.0.1, 10.0.0.2`. */
export function hostsOf(list: string): string[] {
  return list.split(",").map((host) => host.trim()).filter((host) => host !== "");
}
