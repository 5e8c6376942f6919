import type { IncomingMessage } from "node:http";
import { isIP, type Socket } from "node:net";
import { createBoundedMap } from "@tributary/kit/collections/bounded-map";
import type { Networks } from "./networks.ts";

/** Where a request comes from, as far as it can be known. */
export interface Client {
  /** Of the one who asks, in front of whatever balancers are trusted; empty when the connection is gone already. */
  readonly address: string;
  readonly protocol: "http" | "https";
}

export type FindClient = (request: IncomingMessage) => Client;

/** Header values whose addresses are remembered, of so many characters at most. */
const knownMax = 10_000;
const knownLengthMax = 256;

/**
 * Who asks: the other end of the connection. Where that is one of the `trusted`, its `X-Forwarded-For` is read from the right, up to the first
 * address that is not trusted: whatever stands left of it, a client could have written by itself.
 */
export function createClientFinder(trusted: Networks): FindClient {
  const known = createBoundedMap<string>({ entriesMax: knownMax });
  // A look into the list of networks takes as long as a fifth of a whole answer from the cache.
  const trustedSockets = new WeakMap<Socket, boolean>();

  function isTrusted(socket: Socket, nearest: string): boolean {
    const found = trustedSockets.get(socket);
    if (found !== undefined) return found;
    const isOne = trusted.has(nearest);
    trustedSockets.set(socket, isOne);
    return isOne;
  }

  function readForwarded(text: string, nearest: string): string {
    if (text.length > knownLengthMax) return findForwarded(text, nearest, trusted);
    const key = `${nearest} ${text}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const address = findForwarded(text, nearest, trusted);
    known.set(key, address);
    return address;
  }

  return ({ socket, headers }) => {
    const nearest = addressOf(socket);
    const protocol = "encrypted" in socket ? "https" : "http";
    if (trusted.isEmpty || !isTrusted(socket, nearest)) return { address: nearest, protocol };
    const forwarded = headers["x-forwarded-for"];
    const said = headers["x-forwarded-proto"];
    return {
      address: forwarded === undefined ? nearest : readForwarded(String(forwarded), nearest),
      protocol: said === "https" || said === "http" ? said : protocol,
    };
  };
}

/** The other end of a connection; an IPv4 address without the prefix that it has on a listener of both families. */
export function addressOf({ remoteAddress = "" }: Pick<Socket, "remoteAddress">): string {
  return remoteAddress.startsWith("::ffff:") ? remoteAddress.slice("::ffff:".length) : remoteAddress;
}

function findForwarded(text: string, nearest: string, trusted: Networks): string {
  let address = nearest;
  for (const part of text.split(",").toReversed()) {
    const one = withoutPort(part.trim());
    // What is no address says nothing of who is left of it either.
    if (isIP(one) === 0) return address;
    address = addressOf({ remoteAddress: one });
    if (!trusted.has(address)) return address;
  }
  return address;
}

/** Some balancers add the port: `192.0.2.1:80`, `[2001:db8::1]:80`. */
function withoutPort(text: string): string {
  if (text.startsWith("[")) return text.slice(1, text.indexOf("]"));
  return /^[^:]+:\d{1,5}$/.test(text) ? text.slice(0, text.indexOf(":")) : text;
}

/**
 * Under which name an address is counted: of IPv6 the first 64 bits, since whoever has one address there has as a rule the whole network of
 * them (RFC 6177).
 */
export function toCaller(address: string): string {
  if (!address.includes(":")) return address;
  const [withoutZone = ""] = address.split("%", 1);
  const [head = "", tail] = withoutZone.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(8 - first.length - last.length, 0);
  const groups = [...first, ...Array.from({ length: zeros }, () => "0"), ...last].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":");
}
