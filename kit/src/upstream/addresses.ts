// Finds the replicas of a service from its URLs: each IP address of a host name is one replica. Used by `upstream.ts`, once per service.
import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";

/** Where one replica listens. */
export interface ReplicaAddress {
  /** The URL and `addresses`. Identifies the replica from one lookup to the next, and names it in observations. */
  readonly name: string;
  readonly origin: string;
  /** Path and query of the URL. */
  readonly path: string;
  /** The IP addresses to connect to: each is tried if the one before it fails. Empty if the URL contains the address. */
  readonly addresses: readonly string[];
}

/** Resolves with the IP addresses of a host name, the preferred ones first. Rejects if the lookup fails. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

export interface AddressBookOptions {
  /** http(s) URLs, with a host name or an IP address. Duplicates are ignored. */
  readonly urls: readonly string[];
  /** Default: the lookup of the operating system. */
  readonly resolveHost?: ResolveHost | undefined;
  /** Milliseconds from the end of one lookup of all names to the next. Default 5,000. */
  readonly resolveEveryMs?: number | undefined;
  readonly nowMs: () => number;
  /**
   * Called with all known replicas: synchronously at creation (the replicas of URLs with an IP address), and after each lookup of all names, even
   * if nothing changed.
   */
  onResolved(replicas: readonly ReplicaAddress[]): void;
  onLookupFailed(host: string, cause: unknown): void;
}

export interface AddressBook {
  /**
   * Starts a lookup of all names in the background if one is due. Called for each request, so that an unused upstream causes no lookups.
   * @returns the pending lookup if no replica is known, so that the request can wait for it. Undefined if a replica is known, and if no lookup is
   * pending because one failed less than a second ago.
   */
  refresh(): Promise<void> | undefined;
  /**
   * Called when a replica fails or is draining, since its successor may have another address. The next lookup is due one second after the last one
   * ended: at once, if that is over.
   */
  refreshSoon(): void;
}

/** After a failed lookup, and after a replica failed: the time from the end of the last lookup to the next. */
const retryMsMax = 1_000;
/** Per host name; further addresses are ignored. */
const addressesMax = 256;
/** The host of a URL with an IPv6 address. */
const bracketedHost = /^\[(.*)\]$/;

/**
 * All names are looked up together. If the lookup of one name fails, that name keeps its last addresses, and all are looked up again after a
 * second.
 */
export function createAddressBook(o: AddressBookOptions): AddressBook {
  const { resolveHost = resolveWithSystem, resolveEveryMs = 5_000, nowMs } = o;
  const urls = [...new Set(o.urls)].map((url) => new URL(url));
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

  /** Resolves with whether the lookup succeeded. */
  async function lookUp(host: string): Promise<boolean> {
    try {
      const addresses = await resolveHost(host);
      if (addresses.length === 0) throw new Error(`${host} has no address`);
      addressesByHost.set(host, addresses.slice(0, addressesMax));
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
    publish();
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

/** The port of the URL, or the default port of its scheme. */
export function portOf({ port, protocol }: URL): number {
  const defaultPort = protocol === "https:" ? 443 : 80;
  return port === "" ? defaultPort : Number(port);
}

/** The host without the brackets that a URL puts around an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.replace(bracketedHost, "$1");
}

/**
 * The `lookup` option of a socket, so that it connects to these addresses. The URL keeps its host name, which remains the one in `Host` and in the
 * TLS server name.
 * @param addresses at least one.
 */
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

/**
 * A name with addresses of both families (`localhost`) most likely names each machine twice: each address of the preferred family is a replica,
 * and connections to it fall back to the addresses of the other family (RFC 8305).
 */
function replicasOf(url: URL, addresses: readonly string[] | undefined): readonly ReplicaAddress[] {
  const { origin, pathname, search } = url;
  const path = pathname + search;
  if (isIP(hostOf(url)) !== 0) return [{ name: url.href, origin, path, addresses: [] }];
  if (addresses === undefined) return [];
  const preferredFamily = isIP(addresses[0] ?? "");
  const isPreferred = (address: string) => isIP(address) === preferredFamily;
  const preferred = new Set(addresses.filter(isPreferred));
  // Sorted, since DNS servers rotate the order: a replica's name must be the same after each lookup, or its connections would be closed.
  const fallbacks = addresses.filter((address) => !isPreferred(address)).sort();
  return [...preferred].map((address) => {
    const ownAndFallbacks = [address, ...fallbacks];
    return { name: `${url.href} (${ownAndFallbacks.join(", ")})`, origin, path, addresses: ownAndFallbacks };
  });
}
