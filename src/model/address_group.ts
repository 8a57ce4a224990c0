/**
 * The addresses that are taken for one client: an IPv4 address by itself, of IPv6 the /64, which is the least that
 * one host or household has.
 * @param address In canonical form, see `canonicalAddress`.
 */
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
