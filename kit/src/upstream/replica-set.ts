import { hostOf, portOf, type ReplicaAddress } from "./address-book.ts";
import { createReplicaHealth, type ReplicaHealth, type Standing, type Verdict } from "./replica-health.ts";

export interface Replica<Connection> {
  readonly name: string;
  /** Where it is, as a trace says it: its IP address where that is known, else its host. */
  readonly address: string;
  readonly port: number;
  /** Path and query of its URL. */
  readonly path: string;
  /** What leads there, of whatever kind requests are sent by. */
  readonly connection: Connection;
  readonly health: ReplicaHealth;
  /** Whether somebody takes connections there; one look for all who want to know at the same time. */
  readonly isThere: () => Promise<boolean>;
  /** Attempts under way: the load that the choice goes by. */
  underWay: number;
}

export type ReplicaObservation =
  | { readonly kind: "replica-ejected"; readonly replica: string; readonly pauseMs: number; readonly cause: unknown }
  /** It answers, and is about to stop. */
  | { readonly kind: "replica-leaving"; readonly replica: string; readonly pauseMs: number }
  | { readonly kind: "replica-back"; readonly replica: string }
  /** It was left out, and its address is nobody's any more, or nobody asks this service any more. */
  | { readonly kind: "replica-gone"; readonly replica: string };

export interface ReplicaSetOptions<Connection> {
  open(address: ReplicaAddress): Connection;
  /** Resolves once nothing is under way there. */
  close(connection: Connection): Promise<void>;
  /** Whether somebody takes connections there. Never rejects. */
  knock(address: ReplicaAddress): Promise<boolean>;
  readonly nowMs: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  observe(observation: ReplicaObservation): void;
}

export interface ReplicaSet<Connection> {
  /**
   * Asked before each attempt. False when nobody takes connections where `replica` was: it is judged by that, and another is to be chosen as
   * after a refusal. Undefined where no look is worth its time: it has just answered, or there is nobody else to ask.
   */
  look(replica: Replica<Connection>, tried: readonly Replica<Connection>[]): Promise<boolean> | undefined;
  /** Opens what is new; what is gone gets no further request and closes once nothing is under way. */
  update(addresses: readonly ReplicaAddress[]): void;
  /** Undefined when there is none at all. */
  choose(isIdempotent: boolean): Replica<Connection> | undefined;
  /** For a request that failed on `tried`. Undefined when no replica promises more. */
  chooseAgain(
    tried: readonly Replica<Connection>[],
    failure: "refused" | "reset" | "answered",
  ): Replica<Connection> | undefined;
  /** An attempt begins; what is returned must be given to `end`, once. */
  begin(replica: Replica<Connection>): Standing;
  /** `cause` is told when the verdict is bad, for the log. */
  end(replica: Replica<Connection>, begun: Standing, verdict: Verdict, cause?: unknown): void;
  close(): Promise<void>;
}

export function createReplicaSet<Connection>(o: ReplicaSetOptions<Connection>): ReplicaSet<Connection> {
  type Member = Replica<Connection>;
  let replicas: readonly Member[] = [];
  let ejected: readonly Member[] = [];
  /** All of them when none is left: an address may still answer, no address never does. */
  let serving: readonly Member[] = [];
  let isClosed = false;

  function sortOut(): void {
    ejected = replicas.filter(({ health }) => health.isEjected);
    serving = ejected.length < replicas.length ? without(replicas, ejected) : replicas;
  }

  function tell(observation: ReplicaObservation): void {
    sortOut();
    o.observe(observation);
  }

  function open(address: ReplicaAddress): Member {
    const replica: Member = openReplica(o, address, { mayEject: () => mayEject(replica), tell });
    return replica;
  }

  /**
   * Only while another does well: when all fail, such as under more load than they bear, leaving some out would bury the rest. The last one
   * in service stays; since it fails too, the others are tried again at once.
   */
  function mayEject(replica: Member): boolean {
    if (!replicas.includes(replica)) return false;
    const others = without(replicas, [replica]);
    if (others.some(({ health }) => health.isWell)) return true;
    if (others.every(({ health }) => health.isEjected)) for (const { health } of others) health.endPause();
    return false;
  }

  function close({ name, connection, health }: Member): Promise<void> {
    if (health.isEjected) o.observe({ kind: "replica-gone", replica: name });
    return o.close(connection);
  }

  return {
    update(addresses) {
      if (isClosed) return;
      const old = new Map(replicas.map((replica) => [replica.name, replica]));
      replicas = addresses.map((address) => old.get(address.name) ?? open(address));
      sortOut();
      for (const replica of old.values()) if (!replicas.includes(replica)) void close(replica);
    },
    look(replica, tried) {
      return replica.health.isSure || replicas.length - tried.length < 2 ? undefined : look(replica);
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
      isClosed = true;
      await Promise.all(replicas.map(close));
    },
  };
}

interface Hooks {
  mayEject(): boolean;
  tell(observation: ReplicaObservation): void;
}

function openReplica<Connection>(
  { nowMs, open, knock }: ReplicaSetOptions<Connection>,
  address: ReplicaAddress,
  { mayEject, tell }: Hooks,
): Replica<Connection> {
  const { name: replica } = address;
  return {
    ...describe(address),
    connection: open(address),
    isThere: shareWhileUnderWay(() => knock(address)),
    underWay: 0,
    health: createReplicaHealth({
      nowMs,
      mayEject,
      onEjected: (about) => tell({ kind: "replica-ejected", replica, ...about }),
      onLeaving: (about) => tell({ kind: "replica-leaving", replica, ...about }),
      onBack: () => tell({ kind: "replica-back", replica }),
    }),
  };
}

/** Who waits for it is load already: others go elsewhere meanwhile. */
async function look(replica: Replica<unknown>): Promise<boolean> {
  const { health } = replica;
  const begun = health.begin();
  replica.underWay++;
  const isFound = await replica.isThere();
  replica.underWay--;
  health.end(begun, isFound ? "neither" : "absent", isFound ? undefined : new Error("nobody takes connections there"));
  return isFound;
}

/** One call for all who come while it is under way. */
function shareWhileUnderWay<T>(call: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  return () => (underWay ??= call().finally(() => (underWay = undefined)));
}

/** Two at random, the less loaded of them: close to the best of all, without the herd (Mitzenmacher 2001). */
function leastLoadedOfTwo<Connection>(
  replicas: readonly Replica<Connection>[],
  random: () => number,
): Replica<Connection> | undefined {
  const count = replicas.length;
  if (count < 2) return replicas[0];
  const first = Math.floor(random() * count);
  const second = (first + 1 + Math.floor(random() * (count - 1))) % count;
  const [a, b] = [replicas[first], replicas[second]];
  return a && b && b.underWay < a.underWay ? b : a;
}

function without<Member>(replicas: readonly Member[], tried: readonly Member[]): readonly Member[] {
  return replicas.filter((replica) => !tried.includes(replica));
}

function describe({ name, origin, path, addresses }: ReplicaAddress) {
  const url = new URL(origin);
  return { name, address: addresses[0] ?? hostOf(url), port: portOf(url), path };
}
