// The address and protocol of the client that sent a request, also behind trusted proxies.
import type { IncomingMessage } from "node:http";
import { isIP, type Socket } from "node:net";
import { createBoundedMap } from "../collections/bounded-map.ts";
import type { Networks } from "./networks.ts";

export interface ClientAddress {
  /** The address in front of all trusted proxies. Empty if the client has already closed a direct connection. */
  readonly address: string;
  readonly protocol: "http" | "https";
}

export type FindAddress = (request: IncomingMessage) => ClientAddress;

/** Memoized values of `X-Forwarded-For`. */
const forwardedMax = 10_000;
/** Characters of a memoized value. */
const forwardedLengthMax = 256;
/** The prefix of an IPv4-mapped IPv6 address. */
const mappedPrefix = "::ffff:";
const hostAndPortPattern = /^[^:]+:\d{1,5}$/;

/**
 * The client is the other end of the connection. If that is a trusted proxy, its `X-Forwarded-For` is read from the right, up to the first address
 * that is not trusted. This address is the client's: the client could have written all addresses before it. If all addresses are trusted, the
 * first is the client's.
 */
export function createAddressFinder(trusted: Networks): FindAddress {
  /** The client's address, by the address of the nearest proxy and the `X-Forwarded-For` that this proxy sent. */
  const clientAddresses = createBoundedMap<string>({ entriesMax: forwardedMax });
  // Memoized by socket: checking the list of networks takes a fifth of the time of a cache hit in the REST proxy.
  const trustedSockets = new WeakMap<Socket, boolean>();

  function isTrusted(socket: Socket, nearest: string): boolean {
    const known = trustedSockets.get(socket);
    if (known !== undefined) return known;
    const result = trusted.has(nearest);
    trustedSockets.set(socket, result);
    return result;
  }

  function readForwardedFor(forwardedFor: string, nearest: string): string {
    if (forwardedFor.length > forwardedLengthMax) return findClientAddress(forwardedFor, nearest, trusted);
    const key = `${nearest} ${forwardedFor}`;
    const known = clientAddresses.get(key);
    if (known !== undefined) return known;
    const address = findClientAddress(forwardedFor, nearest, trusted);
    clientAddresses.set(key, address);
    return address;
  }

  return ({ socket, headers }) => {
    const nearest = addressOf(socket);
    const protocol = "encrypted" in socket ? "https" : "http";
    if (trusted.isEmpty || !isTrusted(socket, nearest)) return { address: nearest, protocol };
    const forwardedFor = headers["x-forwarded-for"];
    const forwardedProtocol = headers["x-forwarded-proto"];
    return {
      address: forwardedFor === undefined ? nearest : readForwardedFor(String(forwardedFor), nearest),
      protocol: forwardedProtocol === "https" || forwardedProtocol === "http" ? forwardedProtocol : protocol,
    };
  };
}

/** The other end of a connection; an IPv4 address without the prefix that it has on a dual-stack listener. */
export function addressOf({ remoteAddress = "" }: Pick<Socket, "remoteAddress">): string {
  return withoutMappedPrefix(remoteAddress);
}

function withoutMappedPrefix(address: string): string {
  return address.startsWith(mappedPrefix) ? address.slice(mappedPrefix.length) : address;
}

/** @param nearest the address of the trusted proxy that sent this `X-Forwarded-For`. */
function findClientAddress(forwardedFor: string, nearest: string, trusted: Networks): string {
  let address = nearest;
  for (const entry of forwardedFor.split(",").toReversed()) {
    const candidate = withoutPort(entry.trim());
    // No address before an invalid one can be trusted: the client is the last valid address that was read.
    if (isIP(candidate) === 0) return address;
    address = withoutMappedPrefix(candidate);
    if (!trusted.has(address)) return address;
  }
  return address;
}

/** Some load balancers add the port: `192.0.2.1:80`, `[2001:db8::1]:80`. */
function withoutPort(entry: string): string {
  if (entry.startsWith("[")) return entry.slice(1, entry.indexOf("]"));
  return hostAndPortPattern.test(entry) ? entry.slice(0, entry.indexOf(":")) : entry;
}

/** Groups of 16 bits of an IPv6 address. The first four are those of the client's network. */
const groupsOfAddress = 8;
const groupsOfKey = 4;

/**
 * The key of a caller by its address, such as `address:192.0.2.1`. Of an IPv6 address the first 64 bits count, since one client usually has the whole
 * network (RFC 6177).
 */
export function toAddressKey(address: string): string {
  const isIpv6 = address.includes(":");
  if (!isIpv6) return `address:${address}`;
  const [withoutZone = ""] = address.split("%", 1);
  // `::` stands for as many groups of zeros as are missing. `tail` is undefined for an address without it.
  const [head = "", tail] = withoutZone.split("::");
  const headGroups = head === "" ? [] : head.split(":");
  const tailGroups = tail === undefined || tail === "" ? [] : tail.split(":");
  const missing = Math.max(groupsOfAddress - headGroups.length - tailGroups.length, 0);
  const zeroGroups = tail === undefined ? [] : Array.from({ length: missing }, () => "0");
  const keyGroups = [...headGroups, ...zeroGroups, ...tailGroups].slice(0, groupsOfKey);
  // Without leading zeros, so that all notations of an address have one key.
  const normalized = keyGroups.map((group) => Number.parseInt(group, 16).toString(16));
  return `address:${normalized.join(":")}`;
}
