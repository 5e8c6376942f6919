import type { IncomingHttpHeaders } from "node:http";

/** Where a client says what it is called: the name that GraphQL clients use, and the one for all others. The first that is there counts. */
export const clientNameHeaders = ["Apollographql-Client-Name", "X-Client-Name"] as const;

/** How often a client called a route in an old version. */
export interface UsageCount {
  readonly version: number;
  /** A known name, `other` for one that is not known, `unnamed` for none. */
  readonly client: string;
  readonly route: string;
  readonly requests: number;
}

export interface Usage {
  count(version: number, route: string, headers: IncomingHttpHeaders): void;
  /** Everything since the start; the most used first. */
  read(): readonly UsageCount[];
}

export interface UsageOptions {
  /** Names that are counted by themselves: anybody can send any name, and a table of names must not grow by that. */
  readonly knownClients: readonly string[];
  /** The version that nobody has to leave; its use is not counted. */
  readonly newestVersion: number;
}

/** Counts who still calls what is older than the newest version. Bounded by versions × routes × (known clients + 2). */
export function createUsage({ knownClients, newestVersion }: UsageOptions): Usage {
  const known = new Set(knownClients);
  const counts = new Map<number, Map<string, Map<string, number>>>();

  function clientOf(headers: IncomingHttpHeaders): string {
    const name = headers["apollographql-client-name"] ?? headers["x-client-name"];
    if (name === undefined || name === "") return "unnamed";
    return typeof name === "string" && known.has(name) ? name : "other";
  }

  return {
    count(version, route, headers) {
      if (version >= newestVersion) return;
      const byClient = entry(entry(counts, version), route);
      const client = clientOf(headers);
      byClient.set(client, (byClient.get(client) ?? 0) + 1);
    },
    read() {
      const all: UsageCount[] = [];
      for (const [version, byRoute] of counts) {
        for (const [route, byClient] of byRoute) {
          for (const [client, requests] of byClient) all.push({ version, route, client, requests });
        }
      }
      return all.sort((a, b) => b.requests - a.requests);
    },
  };
}

function entry<K, L, V>(map: Map<K, Map<L, V>>, key: K): Map<L, V> {
  const known = map.get(key);
  if (known) return known;
  const made = new Map<L, V>();
  map.set(key, made);
  return made;
}

const tellEveryMs = 3_600_000;

/** Tells each hour who called old versions, and once more when told to stop; nothing when nobody did. */
export function tellUsage(usage: Usage, tell: (counts: readonly UsageCount[]) => void): () => void {
  const tellWhatThereIs = () => {
    const counts = usage.read();
    if (counts.length > 0) tell(counts);
  };
  const timer = setInterval(tellWhatThereIs, tellEveryMs).unref();
  return () => {
    clearInterval(timer);
    tellWhatThereIs();
  };
}
