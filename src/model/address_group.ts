/** Returns the block that counts as one client: the canonical IPv4 address, or the /64 of an IPv6 address. */
export function addressGroup(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const end = tail === "" ? [] : tail.split(":");
    while (groups.length + end.length < 8) groups.push("0");
    groups.push(...end);
  }
  return `${groups.slice(0, 4).join(":")}::/64`;
}
