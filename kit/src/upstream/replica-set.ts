import type { ReplicaStatus } from "../process/process-status.ts";
import { hostOf, portOf, type ReplicaAddress } from "./addresses.ts";
import {
  type AttemptOutcome,
  type AttemptRole,
  createReplicaHealth,
  type EjectionReason,
  type ReplicaHealth,
} from "./replica-health.ts";
import { createRecentLatencies, createReplicaLatency, isLessLoaded, type ReplicaLatency } from "./replica-latency.ts";

export interface Replica<Connection> {
  /** For logs, never for clients. */
  readonly name: string;
  /** For traces: the IP address if it is known, else the host. */
  readonly address: string;
  readonly port: number;
  readonly origin: string;
  readonly path: string;
  readonly connection: Connection;
  readonly health: ReplicaHealth;
  readonly latency: ReplicaLatency;
  inFlight: number;
}

export type ReplicaObservation =
  | {
      readonly kind: "replica-ejected";
      readonly replica: string;
      readonly reason: Exclude<EjectionReason, "draining">;
      readonly pauseMs: number;
      readonly cause: unknown;
    }
  | { readonly kind: "replica-draining"; readonly replica: string; readonly pauseMs: number }
  | { readonly kind: "replica-restored"; readonly replica: string }
  /** While it was ejected: its address is no longer the service's, or the set was closed. */
  | { readonly kind: "replica-removed"; readonly replica: string };

export interface ReplicaSetOptions<Connection> {
  open(address: ReplicaAddress): Connection;
  close(connection: Connection): Promise<void>;
  readonly nowMs: () => number;
  readonly random: () => number;
  observe(observation: ReplicaObservation): void;
}

export type RetryReason = "refused" | "reset" | "status" | "timeout";

export interface ReplicaSet<Connection> {
  list(): readonly Replica<Connection>[];
  /** Removed replicas get no further request and close once none is in flight. */
  update(addresses: readonly ReplicaAddress[]): void;
  /** An ejected replica whose probe is due, else the less loaded of two in service. A request that is not idempotent probes later, since it cannot be retried. */
  choose(isIdempotent: boolean, atMs: number): Replica<Connection> | undefined;
  /** Undefined if no replica is likely to do better. */
  chooseNext(tried: readonly Replica<Connection>[], reason: RetryReason, atMs: number): Replica<Connection> | undefined;
  hasHealthyAlternative(tried: readonly Replica<Connection>[]): boolean;
  /** Of the replica that responds fastest: a slow one must not give the others, or itself, more time. 0 if no latency is known. */
  bestP99Ms(atMs: number): number;
  /** @returns whether it is slow beside other replicas. */
  recordLatency(replica: Replica<Connection>, latencyMs: number, isRead: boolean, atMs: number): boolean;
  listStatuses(): readonly ReplicaStatus[];
  /** The role must be passed to `endAttempt`, once. */
  startAttempt(replica: Replica<Connection>, atMs: number): AttemptRole;
  endAttempt(replica: Replica<Connection>, role: AttemptRole, outcome: AttemptOutcome, cause?: unknown): void;
  close(): Promise<void>;
}

export function createReplicaSet<Connection>(o: ReplicaSetOptions<Connection>): ReplicaSet<Connection> {
  type Member = Replica<Connection>;
  let replicas: readonly Member[] = [];
  let ejected: readonly Member[] = [];
  /** If none is in service, all replicas: an ejected one may still respond. */
  let candidates: readonly Member[] = [];
  let isClosed = false;
  const recent = createRecentLatencies();

  function splitByHealth(): void {
    ejected = replicas.filter(({ health }) => !health.isInService);
    candidates = ejected.length < replicas.length ? without(replicas, ejected) : replicas;
  }

  function report(observation: ReplicaObservation): void {
    splitByHealth();
    o.observe(observation);
  }

  function open(replicaAddress: ReplicaAddress): Member {
    // The last attempts of a removed replica may still fail: it is not ejected.
    const mayEject = (reason: EjectionReason) => replicas.includes(replica) && allowEjection(replica, replicas, reason);
    const replica: Member = {
      ...nameAddress(replicaAddress),
      inFlight: 0,
      connection: o.open(replicaAddress),
      health: createHealth(replicaAddress.name, { nowMs: o.nowMs, mayEject, report }),
      latency: createReplicaLatency(o.nowMs()),
    };
    return replica;
  }

  function close({ name, connection, health }: Member): Promise<void> {
    if (!health.isInService) o.observe({ kind: "replica-removed", replica: name });
    return o.close(connection);
  }

  return {
    list: () => replicas,
    update(addresses) {
      if (isClosed) return;
      const known = new Map(replicas.map((replica) => [keyOf(replica), replica]));
      replicas = addresses.map((address) => known.get(keyOf(address)) ?? open(address));
      splitByHealth();
      for (const removed of without([...known.values()], replicas)) void close(removed);
    },
    choose: (isIdempotent, atMs) =>
      ejected.find(({ health }) => health.isProbeDue(isIdempotent)) ?? leastLoadedOfTwo(candidates, o.random, atMs),
    chooseNext(tried, reason, atMs) {
      const untried = leastLoadedOfTwo(without(candidates, tried), o.random, atMs);
      // No replica is tried twice then, and no ejected one.
      if (untried || reason === "status") return untried;
      // After `reset`, a new connection to the same replica may work.
      return leastLoadedOfTwo(reason === "reset" ? candidates : without(replicas, tried), o.random, atMs);
    },
    hasHealthyAlternative: (tried) =>
      replicas.some((replica) => replica.health.state === "healthy" && !tried.includes(replica)),
    bestP99Ms: (atMs) => fastestOf(replicas)?.reads.p99Ms(atMs) ?? 0,
    recordLatency(replica, latencyMs, isRead, atMs) {
      replica.latency.record(latencyMs, isRead, atMs);
      return recent.record(replica, latencyMs);
    },
    listStatuses: () => replicas.map(describeReplica),
    startAttempt(replica, atMs) {
      replica.inFlight++;
      replica.latency.noteUse(atMs);
      return replica.health.startAttempt();
    },
    endAttempt(replica, role, outcome, cause) {
      replica.inFlight--;
      replica.health.endAttempt(role, outcome, cause);
    },
    async close() {
      isClosed = true;
      await Promise.all(replicas.map(close));
    },
  };
}

/** Names of URLs that differ only in their queries are equal. */
function keyOf({ name, path }: Pick<ReplicaAddress, "name" | "path">): string {
  return `${name} ${path}`;
}

function nameAddress({ name, origin, path, addresses }: ReplicaAddress) {
  const url = new URL(origin);
  return { name, origin, path, address: addresses[0] ?? hostOf(url), port: portOf(url) };
}

/** By its latest reads; of those in service. */
function fastestOf(replicas: readonly Replica<unknown>[]): ReplicaLatency | undefined {
  let fastest: ReplicaLatency | undefined;
  for (const { latency, health } of replicas) {
    if (!health.isInService || latency.reads.isEmpty) continue;
    if (!fastest || latency.meanMs < fastest.meanMs) fastest = latency;
  }
  return fastest;
}

function describeReplica({ name, inFlight, health }: Replica<unknown>): ReplicaStatus {
  return { replica: name, state: health.state, inFlight, reason: health.reason() };
}

interface HealthContext {
  readonly nowMs: () => number;
  mayEject(reason: EjectionReason): boolean;
  report(observation: ReplicaObservation): void;
}

function createHealth(replica: string, { nowMs, mayEject, report }: HealthContext): ReplicaHealth {
  return createReplicaHealth({
    nowMs,
    mayEject,
    onEjected({ reason, pauseMs, cause }) {
      if (reason === "draining") report({ kind: "replica-draining", replica, pauseMs });
      else report({ kind: "replica-ejected", replica, reason, pauseMs, cause });
    },
    onRestored: () => report({ kind: "replica-restored", replica }),
  });
}

/**
 * Only while another replica is healthy: when all fail, such as under overload, each ejection would add load to the rest. Instead of the ejection of
 * the last one in service, the ejected ones are probed at once. A slow replica still serves, so at least half of all remain in service.
 */
function allowEjection(
  replica: Replica<unknown>,
  replicas: readonly Replica<unknown>[],
  reason: EjectionReason,
): boolean {
  const others = without(replicas, [replica]);
  const remaining = others.filter(({ health }) => health.isInService);
  if (reason === "slow" && remaining.length < replicas.length / 2) return false;
  if (others.some(({ health }) => health.state === "healthy")) return true;
  if (remaining.length === 0) {
    for (const { health } of others) health.endPause();
  }
  return false;
}

/** Close to the best of all, without all clients choosing the same one (Mitzenmacher 2001). */
function leastLoadedOfTwo<Connection>(
  replicas: readonly Replica<Connection>[],
  random: () => number,
  atMs: number,
): Replica<Connection> | undefined {
  const count = replicas.length;
  if (count < 2) return replicas[0];
  const firstIndex = Math.floor(random() * count);
  const secondIndex = (firstIndex + 1 + Math.floor(random() * (count - 1))) % count;
  const first = replicas[firstIndex];
  const second = replicas[secondIndex];
  return first && second && isLessLoaded(second, first, atMs) ? second : first;
}

function without<Member>(replicas: readonly Member[], excluded: readonly Member[]): readonly Member[] {
  return replicas.filter((replica) => !excluded.includes(replica));
}
