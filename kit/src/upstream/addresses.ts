import { lookup as lookUpInDns } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";

/** Where one replica listens. */
export interface ReplicaAddress {
  /** The URL and its addresses: unique, and the replica's name in observations. */
  readonly name: string;
  readonly origin: string;
  /** Path and query of the URL. */
  readonly path: string;
  /** The IP addresses to connect to, in this order. Empty if the URL contains the address. */
  readonly addresses: readonly string[];
}

/** Resolves with the IP addresses of a host name, the preferred ones first. Rejects if there are none. */
export type Lookup = (host: string) => Promise<readonly string[]>;

export interface AddressBookOptions {
  /** http(s) URLs. Each address of a host name is a replica. */
  readonly urls: readonly string[];
  /** Default: the lookup of the operating system. */
  readonly lookup?: Lookup | undefined;
  /** Milliseconds between two lookups of a name. Default 5,000. */
  readonly resolveEveryMs?: number | undefined;
  readonly nowMs: () => number;
  onChanged(replicas: readonly ReplicaAddress[]): void;
  onLookupFailed(host: string, cause: unknown): void;
}

export interface AddressBook {
  /**
   * Starts a lookup in the background if one is due. Called for each request, so that an unused upstream causes no lookups.
   * @returns the lookup if no address is known yet: the request must wait for it.
   */
  refresh(): Promise<void> | undefined;
  /** Called when a replica fails or is draining, since its successor may have another address: the next lookup is due within a second. */
  refreshSoon(): void;
}

/** Between two lookups after a failed one, and after a replica failed. */
const retryLookupMs = 1_000;
/** More addresses of one name are ignored. */
const addressesMax = 256;

/** The addresses of the replicas. A name whose lookup fails keeps its last addresses. */
export function createAddressBook(o: AddressBookOptions): AddressBook {
  const { lookup = lookUpAll, resolveEveryMs = 5_000, nowMs } = o;
  const urls = [...new Set(o.urls)].map((url) => new URL(url));
  const hosts = new Set(urls.map(hostOf));
  const names = [...hosts].filter((host) => isIP(host) === 0);
  const resolved = new Map<string, readonly string[]>();
  const soonMs = Math.min(resolveEveryMs, retryLookupMs);
  let lookedUpAtMs = Number.NEGATIVE_INFINITY;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  let pending: Promise<void> | undefined;

  const publish = () => o.onChanged(urls.flatMap((url) => replicasOf(url, resolved.get(hostOf(url)))));

  async function lookUp(host: string): Promise<boolean> {
    try {
      const addresses = await lookup(host);
      if (addresses.length === 0) throw new Error(`${host} has no address`);
      resolved.set(host, addresses.slice(0, addressesMax));
      return true;
    } catch (cause) {
      o.onLookupFailed(host, cause);
      return false;
    }
  }

  async function lookUpNames(): Promise<void> {
    const successes = await Promise.all(names.map(lookUp));
    lookedUpAtMs = nowMs();
    nextAtMs = lookedUpAtMs + (successes.every(Boolean) ? resolveEveryMs : soonMs);
    pending = undefined;
    publish();
  }

  publish();
  return {
    refresh() {
      if (names.length === 0) return undefined;
      if (nowMs() >= nextAtMs) pending ??= lookUpNames();
      return resolved.size === 0 && names.length === hosts.size ? pending : undefined;
    },
    refreshSoon: () => void (nextAtMs = Math.min(nextAtMs, lookedUpAtMs + soonMs)),
  };
}

/** The port of the URL, or the default port of its scheme. */
export function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === "https:" ? 443 : 80));
}

/** The host without the brackets that a URL puts around an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

/** A `lookup` for sockets that always finds these addresses. `Host` and the TLS server name remain those of the URL. */
export function createFixedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, { all: returnsAll }, callback) => {
    const [{ address, family } = { address: "", family: 0 }] = all;
    if (returnsAll) callback(null, all);
    else callback(null, address, family);
  };
}

async function lookUpAll(host: string): Promise<readonly string[]> {
  return (await lookUpInDns(host, { all: true })).map(({ address }) => address);
}

/**
 * A name with addresses of both families (`localhost`) most likely names each machine twice: each address of the preferred family is a replica,
 * and connections to it fall back to the addresses of the other family (RFC 8305).
 */
function replicasOf(url: URL, addresses: readonly string[] | undefined): readonly ReplicaAddress[] {
  const { origin, pathname, search } = url;
  const path = pathname + search;
  if (isIP(hostOf(url)) !== 0) return [{ name: url.href, origin, path, addresses: [] }];
  if (addresses === undefined) return [];
  const preferred = isIP(addresses[0] ?? "");
  const fallbacks = addresses.filter((address) => isIP(address) !== preferred).sort();
  return [...new Set(addresses.filter((address) => isIP(address) === preferred))].map((address) => {
    const all = [address, ...fallbacks];
    return { name: `${url.href} (${all.join(", ")})`, origin, path, addresses: all };
  });
}
