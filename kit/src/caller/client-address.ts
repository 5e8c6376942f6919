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

/** The maximum number of memoized `X-Forwarded-For` values, and the maximum number of characters of a memoized value. */
const forwardedMax = 10_000;
const forwardedLengthMax = 256;

/**
 * The client is the other end of the connection. If that is a trusted proxy, its `X-Forwarded-For` is read from the right, up to the first address
 * that is not trusted. This address is the client's: the client could have written all addresses before it.
 */
export function createAddressFinder(trusted: Networks): FindAddress {
  const addresses = createBoundedMap<string>({ entriesMax: forwardedMax });
  // Memoized by socket: checking the list of networks takes a fifth of the time of a cache hit in the REST proxy.
  const trustedSockets = new WeakMap<Socket, boolean>();

  function isTrusted(socket: Socket, nearest: string): boolean {
    const known = trustedSockets.get(socket);
    if (known !== undefined) return known;
    const result = trusted.has(nearest);
    trustedSockets.set(socket, result);
    return result;
  }

  function readForwarded(text: string, nearest: string): string {
    if (text.length > forwardedLengthMax) return findForwarded(text, nearest, trusted);
    const key = `${nearest} ${text}`;
    const known = addresses.get(key);
    if (known !== undefined) return known;
    const address = findForwarded(text, nearest, trusted);
    addresses.set(key, address);
    return address;
  }

  return ({ socket, headers }) => {
    const nearest = addressOf(socket);
    const protocol = "encrypted" in socket ? "https" : "http";
    if (trusted.isEmpty || !isTrusted(socket, nearest)) return { address: nearest, protocol };
    const forwarded = headers["x-forwarded-for"];
    const forwardedProtocol = headers["x-forwarded-proto"];
    return {
      address: forwarded === undefined ? nearest : readForwarded(String(forwarded), nearest),
      protocol: forwardedProtocol === "https" || forwardedProtocol === "http" ? forwardedProtocol : protocol,
    };
  };
}

/** The other end of a connection; an IPv4 address without the prefix that it has on a dual-stack listener. */
export function addressOf({ remoteAddress = "" }: Pick<Socket, "remoteAddress">): string {
  return remoteAddress.startsWith("::ffff:") ? remoteAddress.slice("::ffff:".length) : remoteAddress;
}

function findForwarded(text: string, nearest: string, trusted: Networks): string {
  let address = nearest;
  for (const part of text.split(",").toReversed()) {
    const candidate = withoutPort(part.trim());
    // No address before an invalid one can be trusted: the client is the last valid address that was read.
    if (isIP(candidate) === 0) return address;
    address = addressOf({ remoteAddress: candidate });
    if (!trusted.has(address)) return address;
  }
  return address;
}

/** Some load balancers add the port: `192.0.2.1:80`, `[2001:db8::1]:80`. */
function withoutPort(text: string): string {
  if (text.startsWith("[")) return text.slice(1, text.indexOf("]"));
  return /^[^:]+:\d{1,5}$/.test(text) ? text.slice(0, text.indexOf(":")) : text;
}

/**
 * The key of a caller by its address, such as `address:192.0.2.1`. Of an IPv6 address the first 64 bits count, since one client usually has the whole
 * network (RFC 6177).
 */
export function toAddressKey(address: string): string {
  if (!address.includes(":")) return `address:${address}`;
  const [withoutZone = ""] = address.split("%", 1);
  const [head = "", tail] = withoutZone.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(8 - first.length - last.length, 0);
  const groups = [...first, ...Array.from({ length: zeros }, () => "0"), ...last].slice(0, 4);
  return `address:${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}`;
}
