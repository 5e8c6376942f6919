import { isIP } from "node:net";

/** Where one replica listens. */
export interface ReplicaAddress {
  /** Tells replicas apart, and names them in observations. */
  readonly name: string;
  readonly origin: string;
  /** Path and query of the URL. */
  readonly path: string;
  /** The addresses to connect to, in this order; empty where the URL itself holds the address. */
  readonly addresses: readonly string[];
}

/** Finds the addresses of a host name, IPv4 and IPv6, in the order of preference. Rejects when there are none. */
export type Lookup = (host: string) => Promise<readonly string[]>;

export interface AddressBookOptions {
  /** http(s) URLs. Each host that is a name is looked up; each of its addresses is a replica. */
  readonly urls: readonly string[];
  readonly lookup: Lookup;
  readonly resolveEveryMs: number;
  readonly nowMs: () => number;
  onChanged(replicas: readonly ReplicaAddress[]): void;
  onLookupFailed(host: string, cause: unknown): void;
}

export interface AddressBook {
  /**
   * Looks names up again when it is time, aside. Called at each request, so that an upstream that nobody uses asks nobody.
   * Undefined where there is something to go by meanwhile; else the caller has to wait for the lookup.
   */
  refresh(): Promise<void> | undefined;
  /** A replica is going or gone: who takes its place may have another address, so the names are looked up again soon. */
  hurry(): void;
}

/** From one lookup to the next where something is wrong: the last one failed, or a replica did. */
const retryLookupMs = 1_000;
/** More addresses of one name are left out. */
const addressesMax = 256;

/** The replicas that URLs stand for. A name that cannot be looked up any more keeps the addresses it had. */
export function createAddressBook(o: AddressBookOptions): AddressBook {
  const urls = [...new Set(o.urls)].map((url) => new URL(url));
  const hosts = new Set(urls.map(hostOf));
  const names = [...hosts].filter((host) => isIP(host) === 0);
  const found = new Map<string, readonly string[]>();
  const hurryMs = Math.min(o.resolveEveryMs, retryLookupMs);
  let lookedUpAtMs = Number.NEGATIVE_INFINITY;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  let underWay: Promise<void> | undefined;

  const publish = () => o.onChanged(urls.flatMap((url) => replicasOf(url, found.get(hostOf(url)))));

  async function lookUp(host: string): Promise<boolean> {
    try {
      const addresses = await o.lookup(host);
      if (addresses.length === 0) throw new Error(`${host} has no address`);
      found.set(host, addresses.slice(0, addressesMax));
      return true;
    } catch (cause) {
      o.onLookupFailed(host, cause);
      return false;
    }
  }

  async function lookAllUp(): Promise<void> {
    const successes = await Promise.all(names.map(lookUp));
    lookedUpAtMs = o.nowMs();
    nextAtMs = lookedUpAtMs + (successes.every(Boolean) ? o.resolveEveryMs : hurryMs);
    underWay = undefined;
    publish();
  }

  publish();
  return {
    refresh() {
      if (names.length === 0) return undefined;
      if (o.nowMs() >= nextAtMs) underWay ??= lookAllUp();
      return found.size === 0 && names.length === hosts.size ? underWay : undefined;
    },
    hurry: () => void (nextAtMs = Math.min(nextAtMs, lookedUpAtMs + hurryMs)),
  };
}

/** The URL's own, or its scheme's. */
export function portOf({ port, protocol }: URL): number {
  return Number(port || (protocol === "https:" ? 443 : 80));
}

/** Without the brackets that a URL puts around an IPv6 address. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

/**
 * A name with addresses of both families is most likely the same machines twice (`localhost`): those of the preferred family are the
 * replicas, the others what a connection falls back to (RFC 8305).
 */
function replicasOf(url: URL, addresses: readonly string[] | undefined): readonly ReplicaAddress[] {
  const { origin, pathname, search } = url;
  const path = pathname + search;
  if (isIP(hostOf(url)) !== 0) return [{ name: url.href, origin, path, addresses: [] }];
  if (addresses === undefined) return [];
  const preferred = isIP(addresses[0] ?? "");
  const others = addresses.filter((address) => isIP(address) !== preferred).sort();
  return [...new Set(addresses.filter((address) => isIP(address) === preferred))].map((address) => {
    const all = [address, ...others];
    return { name: `${url.href} (${all.join(", ")})`, origin, path, addresses: all };
  });
}
