// Sets of IP addresses from the configuration: trusted proxies (client-address.ts), and clients without a rate limit (rate-limit/caller-limits.ts).
import { BlockList, isIP } from "node:net";

/** Addresses and networks such as `10.0.0.0/8`, `2001:db8::/32`, `::1`. */
export interface Networks {
  readonly isEmpty: boolean;
  /** False for an invalid address. An IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) counts as the IPv4 address. */
  has(address: string): boolean;
}

/** @throws Error naming the first invalid text. */
export function createNetworks(texts: readonly string[]): Networks {
  const list = new BlockList();
  for (const text of texts) addTo(list, text);
  return {
    isEmpty: texts.length === 0,
    has(address) {
      const family = familyOf(address);
      return family !== undefined && list.check(address, family);
    },
  };
}

function addTo(list: BlockList, text: string): void {
  const [address = "", bits, ...more] = text.split("/");
  const family = familyOf(address);
  const bitsMax = family === "ipv4" ? 32 : 128;
  const length = bits === undefined ? bitsMax : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  // `!(… <= …)` is also true for NaN.
  if (family === undefined || more.length > 0 || !(length <= bitsMax)) {
    throw new Error(`${JSON.stringify(text)} is neither an address nor a network such as 10.0.0.0/8`);
  }
  list.addSubnet(address, length, family);
}

function familyOf(address: string): "ipv4" | "ipv6" | undefined {
  const family = isIP(address);
  return family === 4 ? "ipv4" : family === 6 ? "ipv6" : undefined;
}
