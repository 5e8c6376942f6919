// Finds the replicas of a service: each IP address of a host name is one replica.
import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";

export interface ReplicaAddress {
  /** The URL and `addresses`, for logs: without user, password and query, which may have an API key. With `path` the same at each lookup. */
  readonly name: string;
  readonly origin: string;
  readonly path: string;
  /** Each is tried if the one before it fails. Empty if the URL contains the address. */
  readonly addresses: readonly string[];
}

/** The preferred addresses first. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

export interface AddressBookOptions {
  readonly urls: readonly string[];
  readonly resolveHost?: ResolveHost | undefined;
  /** From the end of one lookup of all names to the next. Default 5,000. */
  readonly resolveEveryMs?: number | undefined;
  readonly nowMs: () => number;
  /** With all known replicas: synchronously at creation, and after each successful lookup of a name, even if nothing changed. */
  onResolved(replicas: readonly ReplicaAddress[]): void;
  onLookupFailed(host: string, cause: unknown): void;
}

export interface AddressBook {
  /**
   * Starts a lookup of all names if one is due. Called for each request, so that an unused upstream causes no lookups.
   * @returns the pending lookup if no replica is known. Undefined also if none is pending because one failed less than a second ago.
   */
  refresh(): Promise<void> | undefined;
  /** The successor of a replica that fails or drains may have another address. The next lookup is due one second after the last one ended. */
  refreshSoon(): void;
}

const retryMsMax = 1_000;
/** Per host name; further addresses are ignored. */
const addressesMax = 256;
const bracketedHost = /^\[(.*)\]$/;

/** A name whose lookup fails keeps its last addresses. */
export function createAddressBook(o: AddressBookOptions): AddressBook {
  const { resolveHost = resolveWithSystem, resolveEveryMs = 5_000, nowMs } = o;
  // `http://a` and `http://a:80` are one.
  const urls = [...new Set(o.urls.map((url) => new URL(url).href))].map((url) => new URL(url));
  const hosts = new Set(urls.map(hostOf));
  const hostNames = [...hosts].filter((host) => isIP(host) === 0);
  const hasAddressInUrl = hostNames.length < hosts.size;
  const addressesByHost = new Map<string, readonly string[]>();
  const retryMs = Math.min(resolveEveryMs, retryMsMax);
  let lookedUpAtMs = Number.NEGATIVE_INFINITY;
  let nextLookupAtMs = Number.NEGATIVE_INFINITY;
  let pendingLookup: Promise<void> | undefined;

  function publish(): void {
    const replicas = urls.flatMap((url) => replicasOf(url, addressesByHost.get(hostOf(url))));
    o.onResolved(replicas);
  }

  async function lookUp(host: string): Promise<boolean> {
    try {
      const addresses = await resolveHost(host);
      if (addresses.length === 0) throw new Error(`${host} has no address`);
      addressesByHost.set(host, addresses.slice(0, addressesMax));
      publish(); // Does not wait for the other names.
      return true;
    } catch (cause) {
      o.onLookupFailed(host, cause);
      return false;
    }
  }

  async function lookUpAll(): Promise<void> {
    const successes = await Promise.all(hostNames.map(lookUp));
    lookedUpAtMs = nowMs();
    nextLookupAtMs = lookedUpAtMs + (successes.every(Boolean) ? resolveEveryMs : retryMs);
    pendingLookup = undefined;
  }

  publish();
  return {
    refresh() {
      if (hostNames.length === 0) return undefined;
      const isDue = nowMs() >= nextLookupAtMs;
      if (isDue && !pendingLookup) pendingLookup = lookUpAll();
      const isReplicaKnown = hasAddressInUrl || addressesByHost.size > 0;
      return isReplicaKnown ? undefined : pendingLookup;
    },
    refreshSoon() {
      nextLookupAtMs = Math.min(nextLookupAtMs, lookedUpAtMs + retryMs);
    },
  };
}

export function portOf({ port, protocol }: URL): number {
  const defaultPort = protocol === "https:" ? 443 : 80;
  return port === "" ? defaultPort : Number(port);
}

export function hostOf(url: URL): string {
  return url.hostname.replace(bracketedHost, "$1");
}

/** The `lookup` option of a socket, so that it connects to these addresses, and the URL's host name remains in `Host` and in the TLS server name. */
export function createFixedLookup(addresses: readonly string[]): LookupFunction {
  const records = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first = { address: "", family: 0 }] = records;
  return (_host, options, callback) => {
    if (options.all) callback(null, records);
    else callback(null, first.address, first.family);
  };
}

async function resolveWithSystem(host: string): Promise<readonly string[]> {
  const records = await lookup(host, { all: true });
  return records.map(({ address }) => address);
}

/** Addresses of both families (`localhost`) most likely name each machine twice: those of the other family are fallbacks (RFC 8305). */
function replicasOf(url: URL, addresses: readonly string[] | undefined): readonly ReplicaAddress[] {
  const { origin, pathname, search } = url;
  const path = pathname + search;
  const name = origin + pathname;
  if (isIP(hostOf(url)) !== 0) return [{ name, origin, path, addresses: [] }];
  if (addresses === undefined) return [];
  const preferredFamily = isIP(addresses[0] ?? "");
  const isPreferred = (address: string) => isIP(address) === preferredFamily;
  const preferred = new Set(addresses.filter(isPreferred));
  // DNS servers rotate the order: a replica's name must remain the same, or its connections would be closed.
  const fallbacks = addresses.filter((address) => !isPreferred(address)).sort();
  return [...preferred].map((address) => {
    const ownAndFallbacks = [address, ...fallbacks];
    return { name: `${name} (${ownAndFallbacks.join(", ")})`, origin, path, addresses: ownAndFallbacks };
  });
}
