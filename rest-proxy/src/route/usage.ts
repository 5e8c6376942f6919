// Usage of old API versions, reported hourly.
import { createKnownValues } from "@tributary/kit/telemetry/metrics/known-values";
import type { UsageCount } from "../telemetry/observations.ts";

export interface Usage {
  /** Nothing is counted for the newest version. */
  count(version: number, route: string, clientName: string | undefined): void;
  /** Since the start of the process, the highest first. */
  read(): readonly UsageCount[];
}

export interface UsageOptions {
  /** Clients can send any name, so all others are counted as `other`. */
  readonly knownClients: readonly string[];
  readonly newestVersion: number;
}

/** At most versions × routes × (known clients + 2) counts: 2 for `other` and `unnamed`. */
export function createUsage({ knownClients, newestVersion }: UsageOptions): Usage {
  const clientOf = createKnownValues(knownClients);
  const counts = new Map<number, Map<string, Map<string, number>>>();

  return {
    count(version, route, clientName) {
      if (version >= newestVersion) return;
      const byRoute = getOrCreate(counts, version);
      const byClient = getOrCreate(byRoute, route);
      const client = clientOf(clientName);
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

function getOrCreate<Key, InnerKey, Value>(map: Map<Key, Map<InnerKey, Value>>, key: Key): Map<InnerKey, Value> {
  const existing = map.get(key);
  if (existing) return existing;
  const created = new Map<InnerKey, Value>();
  map.set(key, created);
  return created;
}

const reportEveryMs = 3_600_000;

/** Each hour, unless there are no counts. @returns a function that reports once more and stops. */
export function reportUsage(usage: Usage, report: (counts: readonly UsageCount[]) => void): () => void {
  const reportCounts = () => {
    const counts = usage.read();
    if (counts.length > 0) report(counts);
  };
  const timer = setInterval(reportCounts, reportEveryMs).unref();
  return () => {
    clearInterval(timer);
    reportCounts();
  };
}
