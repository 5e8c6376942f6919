import type { IncomingMessage } from "node:http";
import { isIP, type Socket } from "node:net";
import { createBoundedMap } from "../collections/bounded-map.ts";
import type { Networks } from "./networks.ts";

export interface ClientAddress {
  /** Empty if the client has already closed a direct connection. */
  readonly address: string;
  readonly protocol: "http" | "https";
}

export type FindAddress = (request: IncomingMessage) => ClientAddress;

const forwardedMax = 10_000;
const forwardedLengthMax = 256;
/** IPv4-mapped. */
const mappedPrefix = "::ffff:";
const hostAndPortPattern = /^[^:]+:\d{1,5}$/;

/**
 * The `X-Forwarded-For` of a trusted proxy is read from the right, up to the first address that is not trusted: the client could have written all
 * addresses before it. If all are trusted, the first is the client's.
 */
export function createAddressFinder(trusted: Networks): FindAddress {
  const clientAddresses = createBoundedMap<string>({ entriesMax: forwardedMax });
  // Checking the list of networks takes a fifth of the time of a cache hit in the REST proxy.
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

/** An IPv4 address has no prefix, also on a dual-stack listener. */
export function addressOf({ remoteAddress = "" }: Pick<Socket, "remoteAddress">): string {
  return withoutMappedPrefix(remoteAddress);
}

function withoutMappedPrefix(address: string): string {
  return address.startsWith(mappedPrefix) ? address.slice(mappedPrefix.length) : address;
}

/** @param nearest the trusted proxy. */
function findClientAddress(forwardedFor: string, nearest: string, trusted: Networks): string {
  let address = nearest;
  for (const entry of forwardedFor.split(",").toReversed()) {
    const candidate = withoutPort(entry.trim());
    // No address before an invalid one can be trusted.
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

/** Of 16 bits. The first four are those of the client's network. */
const groupsOfAddress = 8;
const groupsOfKey = 4;

/** Of an IPv6 address the first 64 bits count, since one client usually has the whole network (RFC 6177). */
export function toAddressKey(address: string): string {
  const isIpv6 = address.includes(":");
  if (!isIpv6) return `address:${address}`;
  const [withoutZone = ""] = address.split("%", 1);
  // `::` stands for as many groups of zeros as are missing.
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
