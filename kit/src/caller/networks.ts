import { BlockList, isIP } from "node:net";

export interface Networks {
  readonly isEmpty: boolean;
  /** An IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) counts as the IPv4 address. */
  has(address: string): boolean;
}

/** @throws Error naming the first invalid text. */
export function createNetworks(texts: readonly string[]): Networks {
  const blockList = new BlockList();
  for (const text of texts) addTo(blockList, text);
  return {
    isEmpty: texts.length === 0,
    has(address) {
      const family = familyOf(address);
      return family !== undefined && blockList.check(address, family);
    },
  };
}

const prefixLengthPattern = /^\d{1,3}$/;

function addTo(blockList: BlockList, text: string): void {
  const [address = "", lengthText, ...more] = text.split("/");
  const family = familyOf(address);
  const bitsMax = family === "ipv4" ? 32 : 128;
  const prefixLength = lengthText === undefined ? bitsMax : parsePrefixLength(lengthText, bitsMax);
  if (family === undefined || prefixLength === undefined || more.length > 0) {
    throw new Error(`${JSON.stringify(text)} is neither an address nor a network such as 10.0.0.0/8`);
  }
  blockList.addSubnet(address, prefixLength, family);
}

function parsePrefixLength(text: string, bitsMax: number): number | undefined {
  if (!prefixLengthPattern.test(text)) return undefined;
  const prefixLength = Number(text);
  return prefixLength <= bitsMax ? prefixLength : undefined;
}

function familyOf(address: string): "ipv4" | "ipv6" | undefined {
  switch (isIP(address)) {
    case 4:
      return "ipv4";
    case 6:
      return "ipv6";
    default:
      return undefined;
  }
}
