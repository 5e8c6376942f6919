// What the gateway and the REST proxy observe alike: their replicas, connections, token keys and feeds.
import type { FeedStateObservation } from "../feed/feed-telemetry.ts";
import type { ConnectionClosed } from "../http/incomplete-requests.ts";
import type { UpstreamObservation } from "../upstream/upstream.ts";
import type { Failure } from "./failure-log.ts";
import type { Counter, Gauge, Labels } from "./metrics/metrics.ts";

export type EntryPointObservation =
  | (UpstreamObservation & { readonly service: string })
  | ConnectionClosed
  | FeedStateObservation
  | { readonly kind: "token-keys-fetched"; readonly isOk: boolean }
  /** The keys could not be fetched: known keys remain in use; without any, requests with a token get a 503. */
  | { readonly kind: "token-keys-failed"; readonly cause: unknown };

export type LogLine = readonly ["debug" | "info" | "warn" | "error", string];

export const entryPointLogLines = {
  "token-keys-fetched": ["debug", "token keys fetched"],
  "token-keys-failed": ["warn", "token keys could not be fetched; further failures are counted"],
  "connection-closed": ["debug", "connection closed: its address holds too much of what all clients share"],
  "breaker-changed": ["warn", "breaker of a service opened, because no replica responds, or closed"],
  "replica-ejected": ["warn", "replica ejected"],
  "replica-draining": ["info", "draining replica ejected"],
  "replica-restored": ["info", "replica restored"],
  "replica-removed": ["info", "ejected replica removed"],
} as const satisfies Partial<Record<EntryPointObservation["kind"], LogLine>>;

interface Observed {
  readonly kind: string;
}

type OfKind<O extends Observed, Kind> = O extends { readonly kind: infer K } ? (Kind extends K ? O : never) : never;

export type ObservationHandlers<O extends Observed, Result = void> = {
  readonly [Kind in O["kind"]]?: (observation: OfKind<O, Kind>) => Result;
};

/** Observations without a handler are ignored. */
export function handleByKind<O extends Observed, Result = void>(
  handlers: ObservationHandlers<O, Result>,
): (observation: O) => Result | undefined {
  return (observation) => {
    const handle = handlers[observation.kind as O["kind"]] as ((observation: O) => Result) | undefined;
    return handle?.(observation);
  };
}

/** The failure log logs these, since they repeat during an outage. */
export const entryPointFailures: ObservationHandlers<EntryPointObservation, Failure> = {
  "dns-lookup-failed": ({ service, host }) => ({ service, replica: host, reason: "LOOKUP_FAILED" }),
  "token-keys-failed": () => ({ service: "token-issuer", replica: undefined, reason: "KEYS_UNAVAILABLE" }),
};

export interface EntryPointMetrics<Upstream extends string> {
  readonly retries: Counter<Upstream>;
  readonly retriesOverBudget: Counter<Upstream>;
  readonly ejections: Counter<Upstream>;
  readonly ejected: Gauge<Upstream | "reason">;
  readonly breakerOpen: Gauge<Upstream>;
  readonly lookupFailures: Counter<Upstream>;
  readonly keyFetches: Counter<"result">;
  readonly connectionsClosed: Counter<"reason">;
}

const countedReasons = ["failing", "slow"] as const;
type EjectedReason = (typeof countedReasons)[number] | "draining";

/** @param upstream the label that names the server: `subgraph` or `service`. */
export function countEntryPointObservations<Upstream extends string>(
  upstream: Upstream,
  metrics: EntryPointMetrics<Upstream>,
): ObservationHandlers<EntryPointObservation> {
  const labelsOf = (service: string) => ({ [upstream]: service }) as Labels<Upstream>;
  /**
   * By service, then by replica. A gateway has two clients of a service after a change of its settings or of the supergraph, until the old one is
   * closed: each adds and removes its own reason, the older one first.
   */
  const ejected = new Map<string, Map<string, readonly EjectedReason[]>>();
  metrics.ejected.onScrape((gauge) => {
    for (const [service, replicas] of ejected) {
      const counts = Map.groupBy(replicas.values(), (reasons) => reasons.at(-1));
      for (const reason of countedReasons) {
        gauge.set({ ...labelsOf(service), reason }, counts.get(reason)?.length ?? 0);
      }
    }
  });
  /** How many clients of a service have an open breaker. */
  const openBreakers = new Map<string, number>();
  metrics.breakerOpen.onScrape((gauge) => {
    for (const [service, count] of openBreakers) gauge.set(labelsOf(service), count > 0 ? 1 : 0);
  });
  const ejectedOf = (service: string) => {
    const replicas = ejected.get(service) ?? new Map<string, readonly EjectedReason[]>();
    ejected.set(service, replicas);
    return replicas;
  };
  const eject = (service: string, replica: string, reason: EjectedReason) => {
    const replicas = ejectedOf(service);
    replicas.set(replica, [...(replicas.get(replica) ?? []), reason]);
  };
  const restore = ({ service, replica }: { readonly service: string; readonly replica: string }) => {
    const replicas = ejectedOf(service);
    const [, ...others] = replicas.get(replica) ?? [];
    if (others.length > 0) replicas.set(replica, others);
    else replicas.delete(replica);
  };
  return {
    retried: ({ service }) => metrics.retries.add(labelsOf(service)),
    "retry-over-budget": ({ service }) => metrics.retriesOverBudget.add(labelsOf(service)),
    "dns-lookup-failed": ({ service }) => metrics.lookupFailures.add(labelsOf(service)),
    "replica-ejected": ({ service, replica, reason }) => {
      metrics.ejections.add(labelsOf(service));
      eject(service, replica, reason);
    },
    "replica-draining": ({ service, replica }) => eject(service, replica, "draining"),
    "breaker-changed": ({ service, isOpen }) => {
      const before = openBreakers.get(service) ?? 0;
      openBreakers.set(service, Math.max(0, isOpen ? before + 1 : before - 1));
    },
    "replica-restored": restore,
    "replica-removed": restore,
    "token-keys-fetched": ({ isOk }) => metrics.keyFetches.add({ result: isOk ? "ok" : "failed" }),
    "connection-closed": ({ reason }) => metrics.connectionsClosed.add({ reason }),
  };
}
