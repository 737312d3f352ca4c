/**
 * Who shares what all clients may take: a principal, or a network where callers are not known. The kind is part of the
 * name: a principal's id cannot collide with an address.
 */
export function toShareOwner(principal: string | undefined, ip: string | undefined): string {
  return principal === undefined ? `address:${toNetwork(ip ?? "")}` : `principal:${principal}`;
}

/** Of IPv6 the first half: a subscriber has all of the other to choose from. */
function toNetwork(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined || !ip.includes(":")) return mapped ?? ip;
  const [head = "", tail] = ip.toLowerCase().replace(/%.*$/, "").split("::");
  const groups = head === "" ? [] : head.split(":");
  const last = tail ? tail.split(":") : [];
  if (tail !== undefined) {
    const missing = Math.max(0, 8 - groups.length - last.length);
    groups.push(...Array.from({ length: missing }, () => "0"), ...last);
  }
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}
