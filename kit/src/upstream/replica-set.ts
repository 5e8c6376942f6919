import type { LookupFunction } from "node:net";
import { isIP } from "node:net";
import { Pool } from "undici";
import type { ReplicaAddress } from "./address-book.ts";
import { createReplicaHealth, type ReplicaHealth, type Standing, type Verdict } from "./replica-health.ts";

export interface Replica {
  readonly name: string;
  /** Path and query of its URL. */
  readonly path: string;
  readonly pool: Pool;
  readonly health: ReplicaHealth;
  /** Attempts under way: the load that the choice goes by. */
  underWay: number;
}

export type ReplicaObservation =
  | { readonly kind: "replica-ejected"; readonly replica: string; readonly pauseMs: number; readonly cause: unknown }
  | { readonly kind: "replica-back"; readonly replica: string };

export interface ReplicaSetOptions {
  readonly connectionsMax: number;
  readonly connectTimeoutMs: number;
  readonly nowMs: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  observe(observation: ReplicaObservation): void;
}

export interface ReplicaSet {
  /** Opens what is new; what is gone gets no further request and closes once nothing is under way. */
  update(addresses: readonly ReplicaAddress[]): void;
  /** Undefined when there is none at all. */
  choose(isIdempotent: boolean): Replica | undefined;
  /** For a request that failed on `tried`. Undefined when no replica promises more. */
  chooseAgain(tried: readonly Replica[], failure: "refused" | "reset" | "answered"): Replica | undefined;
  /** An attempt begins; what is returned must be given to `end`, once. */
  begin(replica: Replica): Standing;
  /** `cause` is told when the verdict is bad, for the log. */
  end(replica: Replica, begun: Standing, verdict: Verdict, cause?: unknown): void;
  close(): Promise<void>;
}

export function createReplicaSet(o: ReplicaSetOptions): ReplicaSet {
  let replicas: readonly Replica[] = [];
  let ejected: readonly Replica[] = [];
  /** All of them when none is left: an address may still answer, no address never does. */
  let serving: readonly Replica[] = [];

  function sortOut(): void {
    ejected = replicas.filter(({ health }) => health.isEjected);
    serving = ejected.length < replicas.length ? without(replicas, ejected) : replicas;
  }

  function open({ name, origin, path, addresses }: ReplicaAddress): Replica {
    const replica: Replica = {
      name,
      path,
      pool: createPool(origin, addresses, o),
      underWay: 0,
      health: createReplicaHealth({
        nowMs: o.nowMs,
        mayEject: () => mayEject(replica),
        onEjected(about) {
          sortOut();
          o.observe({ kind: "replica-ejected", replica: name, ...about });
        },
        onBack() {
          sortOut();
          o.observe({ kind: "replica-back", replica: name });
        },
      }),
    };
    return replica;
  }

  /**
   * Only while another does well: when all fail, such as under more load than they bear, leaving some out would bury the rest. The last one
   * in service stays; since it fails too, the others are tried again at once.
   */
  function mayEject(replica: Replica): boolean {
    if (!replicas.includes(replica)) return false;
    const others = without(replicas, [replica]);
    if (others.some(({ health }) => health.isWell)) return true;
    if (others.every(({ health }) => health.isEjected)) for (const { health } of others) health.endPause();
    return false;
  }

  return {
    update(addresses) {
      const old = new Map(replicas.map((replica) => [replica.name, replica]));
      replicas = addresses.map((address) => old.get(address.name) ?? open(address));
      sortOut();
      for (const { name } of replicas) old.delete(name);
      for (const { pool } of old.values()) void pool.close();
    },
    choose(isIdempotent) {
      const due = ejected.find(({ health }) => health.isDue(isIdempotent));
      return due ?? leastLoadedOfTwo(serving, o.random);
    },
    chooseAgain(tried, failure) {
      const untried = leastLoadedOfTwo(without(serving, tried), o.random);
      if (untried) return untried;
      // A reset connection says little about the next one; a refused one says that nobody is there.
      if (failure === "reset") return leastLoadedOfTwo(serving, o.random);
      return failure === "refused" ? leastLoadedOfTwo(without(replicas, tried), o.random) : undefined;
    },
    begin(replica) {
      replica.underWay++;
      return replica.health.begin();
    },
    end(replica, begun, verdict, cause) {
      replica.underWay--;
      replica.health.end(begun, verdict, cause);
    },
    async close() {
      await Promise.all(replicas.map(({ pool }) => pool.close()));
    },
  };
}

/** Two at random, the less loaded of them: close to the best of all, without the herd (Mitzenmacher 2001). */
function leastLoadedOfTwo(replicas: readonly Replica[], random: () => number): Replica | undefined {
  const count = replicas.length;
  if (count < 2) return replicas[0];
  const first = Math.floor(random() * count);
  const second = (first + 1 + Math.floor(random() * (count - 1))) % count;
  const [a, b] = [replicas[first], replicas[second]];
  return a && b && b.underWay < a.underWay ? b : a;
}

function without(replicas: readonly Replica[], tried: readonly Replica[]): readonly Replica[] {
  return replicas.filter((replica) => !tried.includes(replica));
}

function createPool(origin: string, addresses: readonly string[], o: ReplicaSetOptions): Pool {
  return new Pool(origin, {
    connections: o.connectionsMax,
    pipelining: 1,
    allowH2: false,
    connectTimeout: o.connectTimeoutMs,
    // A request's own deadline covers all of it; undici's are idle times.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(addresses.length > 0 ? { connect: { lookup: createFixedLookup(addresses) } } : {}),
  });
}

/** `Host` and the TLS server name stay those of the URL; only the address is fixed. */
function createFixedLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, { all: wantsAll }, callback) => {
    const [{ address, family } = { address: "", family: 0 }] = all;
    if (wantsAll) callback(null, all);
    else callback(null, address, family);
  };
}
