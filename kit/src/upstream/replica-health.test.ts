import { expect, test } from "vitest";
import { hasCloseOption, rejectInvalid, toOutcome, toRetryReason } from "./attempt-result.ts";
import { type AttemptOutcome, createReplicaHealth, type HealthState, transitions } from "./replica-health.ts";
import { createReplicaSet, type Replica, type ReplicaObservation } from "./replica-set.ts";
import type { ResponseHeaders, TransportFailure, TransportResult } from "./transport.ts";

function setUp() {
  const clock = { nowMs: 0 };
  const seen: (number | string)[] = [];
  const health = createReplicaHealth({
    nowMs: () => clock.nowMs,
    mayEject: () => true,
    onEjected: ({ reason, pauseMs }) => void seen.push(reason === "failing" ? pauseMs : `${reason} ${pauseMs}`),
    onRestored: () => void seen.push("restored"),
  });
  const run = (...outcomes: AttemptOutcome[]) =>
    outcomes.forEach((outcome) => health.endAttempt(health.startAttempt(), outcome));
  const fail = (count: number) => run(...Array.from({ length: count }, () => "failure" as const));
  return { clock, seen, health, run, fail };
}

/** Brings a new replica into a state. */
const enter: Record<HealthState, (o: ReturnType<typeof setUp>) => unknown> = {
  healthy: ({ run }) => run("success"),
  suspect: ({ run }) => run("success", "failure"),
  ejected: ({ run, fail }) => (run("success"), fail(5)),
  probing({ clock, health, run, fail }) {
    run("success");
    fail(5);
    clock.nowMs = 1_000;
    health.startAttempt();
  },
};

test.each<[HealthState, AttemptOutcome, count: number, next: HealthState]>([
  ["healthy", "success", 1, "healthy"],
  ["healthy", "inconclusive", 9, "healthy"],
  ["healthy", "failure", 1, "suspect"],
  ["healthy", "failure", 4, "suspect"],
  ["healthy", "failure", 5, "ejected"],
  ["healthy", "timeout", 1, "suspect"],
  ["healthy", "timeout", 2, "ejected"],
  ["healthy", "slow", 1, "healthy"],
  ["healthy", "slow", 20, "healthy"],
  ["suspect", "slow", 1, "healthy"],
  ["healthy", "draining", 1, "suspect"],
  ["healthy", "draining", 2, "ejected"],
  ["suspect", "success", 1, "healthy"],
  ["suspect", "inconclusive", 9, "suspect"],
  ["suspect", "failure", 4, "ejected"],
  ["suspect", "timeout", 1, "suspect"],
  ["suspect", "timeout", 2, "ejected"],
  ["suspect", "draining", 1, "suspect"],
  ["ejected", "success", 1, "healthy"],
  ["ejected", "failure", 9, "ejected"],
  ["ejected", "inconclusive", 1, "ejected"],
  ["probing", "success", 1, "healthy"],
  ["probing", "failure", 9, "probing"],
])("from %s, the outcome %s %i times in a row leads to %s", (state, outcome, count, next) => {
  const o = setUp();
  enter[state](o);
  expect(o.health.state).toBe(state);
  o.run(...Array.from({ length: count }, () => outcome));
  expect(o.health.state).toBe(next);
});

test.each<[AttemptOutcome, HealthState, isDue: boolean]>([
  ["success", "healthy", false],
  ["failure", "ejected", false],
  ["timeout", "ejected", false],
  ["draining", "ejected", false],
  ["inconclusive", "ejected", true],
])("a probe with the outcome %s leads to %s, and the next probe is due: %s", (outcome, next, isDue) => {
  const { clock, health, run, fail } = setUp();
  run("success");
  fail(5);
  clock.nowMs = 1_000;
  const role = health.startAttempt();
  expect([role, health.state]).toEqual(["probe", "probing"]);
  health.endAttempt(role, outcome);
  expect([health.state, health.isProbeDue(true)]).toEqual([next, isDue]);
});

test("every state can be left, and both healthy and ejected can be reached from every state", () => {
  const states = Object.keys(transitions) as HealthState[];
  const reachable = (from: HealthState, seen = new Set<HealthState>()): Set<HealthState> => {
    for (const next of Object.values(transitions[from])) {
      if (seen.has(next)) continue;
      seen.add(next);
      reachable(next, seen);
    }
    return seen;
  };
  for (const state of states) expect([...reachable(state)]).toEqual(expect.arrayContaining(["healthy", "ejected"]));
});

test("after random outcomes, one success returns a replica to healthy once its pause is over", () => {
  let seed = 7;
  const draw = (count: number) => (seed = (seed * 48_271) % 2_147_483_647) % count;
  const outcomes = ["success", "failure", "timeout", "draining", "inconclusive"] as const;
  const { clock, health } = setUp();
  const open: Parameters<typeof health.endAttempt>[0][] = [];
  for (let i = 0; i < 5_000; i++) {
    clock.nowMs += draw(2_000);
    if (draw(2) === 0) open.push(health.startAttempt());
    const role = open.splice(draw(3), 1)[0];
    if (role) health.endAttempt(role, outcomes[draw(5)] ?? "success");
    if (i % 100 !== 0) continue;
    for (const pending of open.splice(0)) health.endAttempt(pending, "inconclusive");
    clock.nowMs += 30_000;
    health.endAttempt(health.startAttempt(), "success");
    expect(health.state).toBe("healthy");
  }
});

test("ten slow responses in a row over at least a second eject a replica, until a probe is not slow", () => {
  const { clock, seen, health, run } = setUp();
  const slow = (count: number) => run(...Array.from({ length: count }, () => "slow" as const));
  slow(9);
  clock.nowMs = 1_000;
  run("success");
  slow(12);
  clock.nowMs = 1_999;
  slow(1);
  expect(health.state).toBe("healthy");
  clock.nowMs = 2_000;
  slow(1);
  clock.nowMs = 3_000;
  slow(1);
  expect([health.state, health.isProbeDue(true)]).toEqual(["ejected", false]);
  clock.nowMs = 5_000;
  run("success");
  expect(seen).toEqual(["slow 1000", "restored"]);
});

test("a slow response to a probe restores a replica that was ejected for failures", () => {
  const { clock, seen, run, fail } = setUp();
  fail(5);
  clock.nowMs = 1_000;
  run("slow");
  expect(seen).toEqual([1_000, "restored"]);
});

test("draining replicas are reported as such, and restored when they keep connections again", () => {
  const { clock, seen, health, run } = setUp();
  run("success", "draining", "success", "draining");
  expect(health.state).toBe("suspect");
  run("draining");
  expect(health.state).toBe("ejected");
  clock.nowMs = 1_000;
  run("draining");
  expect(health.isProbeDue(true)).toBe(false);
  clock.nowMs = 3_000;
  run("success");
  expect(seen).toEqual(["draining 1000", "restored"]);
});

test("a replica that never kept a connection is not draining", () => {
  const { health, run } = setUp();
  run("draining", "draining", "draining");
  expect(health.state).toBe("healthy");
});

test("failures and draining responses are not added up", () => {
  const { health, run, fail } = setUp();
  run("success");
  fail(4);
  run("draining");
  fail(4);
  run("draining");
  expect(health.state).toBe("suspect");
});

test("only one attempt probes, once the pause is over", () => {
  const { clock, seen, health, fail } = setUp();
  fail(5);
  clock.nowMs = 999;
  expect([health.isProbeDue(true), health.startAttempt()]).toEqual([false, "last-resort"]);
  clock.nowMs = 1_000;
  expect(health.isProbeDue(true)).toBe(true);
  const role = health.startAttempt();
  expect([health.isProbeDue(true), health.startAttempt()]).toEqual([false, "last-resort"]);
  health.endAttempt(role, "success");
  expect(seen).toEqual([1_000, "restored"]);
});

test("each failed probe doubles the pause, up to 30 s", () => {
  const { clock, health, fail } = setUp();
  fail(5);
  const pauses = Array.from({ length: 7 }, () => {
    const startedMs = clock.nowMs;
    while (!health.isProbeDue(true)) clock.nowMs += 500;
    fail(1);
    return clock.nowMs - startedMs;
  });
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

test("a replica that alternates is ejected for longer each time, and for the first pause again after 30 s in service", () => {
  const { clock, seen, run, fail } = setUp();
  const failAndRecover = () => {
    fail(5);
    clock.nowMs += 10_000;
    run("success");
  };
  failAndRecover();
  failAndRecover();
  clock.nowMs += 30_001;
  failAndRecover();
  expect(seen).toEqual([1_000, "restored", 2_000, "restored", 1_000, "restored"]);
});

test("attempts that started before an ejection have no effect after it", () => {
  const { clock, health, fail } = setUp();
  const [first, second] = [health.startAttempt(), health.startAttempt()];
  fail(5);
  health.endAttempt(first, "success");
  health.endAttempt(second, "failure");
  clock.nowMs = 1_000;
  expect([health.state, health.isProbeDue(true)]).toEqual(["ejected", true]);
});

test("failures of attempts as a last resort do not extend the pause", () => {
  const { clock, health, fail } = setUp();
  fail(20);
  clock.nowMs = 1_000;
  expect(health.isProbeDue(true)).toBe(true);
});

test("a request that is not idempotent probes only after 30 s without another probe", () => {
  const { clock, health, fail } = setUp();
  fail(5);
  clock.nowMs = 30_999;
  expect(health.isProbeDue(false)).toBe(false);
  clock.nowMs = 31_000;
  expect(health.isProbeDue(false)).toBe(true);
});

function openSet(names: readonly string[]) {
  const clock = { nowMs: 0 };
  const seen: ReplicaObservation[] = [];
  const closed: string[] = [];
  const set = createReplicaSet<string>({
    open: ({ name }) => name,
    close: (name) => Promise.resolve(void closed.push(name)),
    nowMs: () => clock.nowMs,
    random: () => 0,
    observe: (observation) => void seen.push(observation),
  });
  const update = (...some: readonly string[]) =>
    set.update(some.map((name) => ({ name, origin: `http://${name}:1`, path: "/", addresses: [] })));
  update(...names);
  const choose = () => set.choose(true, clock.nowMs) as Replica<string>;
  const end = (replica: Replica<string>, outcome: AttemptOutcome, count = 1) => {
    for (let i = 0; i < count; i++) set.endAttempt(replica, set.startAttempt(replica, clock.nowMs), outcome);
  };
  return { clock, set, update, choose, end, seen, closed };
}

test.each([
  ["refused", "b"],
  ["timeout", "b"],
  ["status", undefined],
  ["reset", "a"],
] as const)("after %s on the only replica in service, the next attempt goes to %s", (reason, next) => {
  const { set, choose, end } = openSet(["a", "b"]);
  const b = set.chooseNext([choose()], "refused", 0) as Replica<string>;
  end(b, "timeout", 2);
  expect(set.chooseNext([choose()], reason, 0)?.name).toBe(next);
});

test("the list of replicas says why one is suspect or ejected, until it is healthy", () => {
  const { clock, set, choose, end } = openSet(["a", "b"]);
  const a = choose();
  const reset = new Error("socket hang up");
  const fail = () => set.endAttempt(a, set.startAttempt(a, clock.nowMs), "failure", reset);
  const b = { replica: "b", state: "healthy", inFlight: 0, reason: undefined };
  const listA = (state: string, reason?: string) => [{ replica: "a", state, inFlight: 0, reason }, b];
  fail();
  expect(set.listStatuses()).toEqual(listA("suspect", "socket hang up"));
  for (let i = 0; i < 4; i++) fail();
  expect(set.listStatuses()).toEqual(listA("ejected", "socket hang up"));
  clock.nowMs = 1_000;
  set.endAttempt(a, set.startAttempt(a, clock.nowMs), "timeout", new Error("timeout"));
  expect(set.listStatuses()).toEqual(listA("ejected", "timeout"));
  clock.nowMs = 10_000;
  end(a, "success");
  expect(set.listStatuses()).toEqual(listA("healthy"));
  end(a, "draining");
  expect(set.listStatuses()).toEqual(listA("suspect", "draining"));
  end(a, "draining");
  expect(set.listStatuses()).toEqual(listA("ejected", "draining"));
});

test("a healthy alternative is another replica that is healthy and was not tried", () => {
  const { set, update, choose, end } = openSet(["a", "b"]);
  const a = choose();
  expect(set.hasHealthyAlternative([a])).toBe(true);
  const b = set.chooseNext([a], "refused", 0) as Replica<string>;
  expect(set.hasHealthyAlternative([a, b])).toBe(false);
  end(b, "failure");
  expect(set.hasHealthyAlternative([a])).toBe(false);
  end(b, "success");
  expect(set.hasHealthyAlternative([a])).toBe(true);
  update("a");
  expect(set.hasHealthyAlternative([a])).toBe(false);
});

test("an ejected replica whose address is removed is reported once, and late attempts have no effect", () => {
  const { clock, set, update, choose, end, seen, closed } = openSet(["a", "b"]);
  const a = choose();
  const late = set.startAttempt(a, clock.nowMs);
  end(a, "timeout", 2);
  update("b");
  set.endAttempt(a, late, "failure");
  expect([seen.map(({ kind }) => kind), closed]).toEqual([["replica-ejected", "replica-removed"], ["a"]]);
});

test("replicas whose URLs differ only in their queries remain the same at the next lookup", () => {
  const { set } = openSet(["a"]);
  const addresses = ["/?a", "/?b"].map((path) => ({ name: "b", origin: "http://b:1", path, addresses: [] }));
  set.update(addresses);
  const before = set.list();
  set.update(addresses);
  expect(before.map(({ path }) => path)).toEqual(["/?a", "/?b"]);
  expect(set.list().map((replica) => before.indexOf(replica))).toEqual([0, 1]);
});

test("a removed replica is not ejected", () => {
  const { update, choose, end, seen } = openSet(["a", "b"]);
  const a = choose();
  update("b", "c");
  end(a, "timeout", 2);
  expect(seen).toEqual([]);
});

test("at least half of the replicas remain in service, however slow", () => {
  const { clock, update, set, seen } = openSet([]);
  const names = ["a", "b", "c", "d", "e"];
  update(...names);
  for (let ms = 0; ms < 3_000; ms += 100) {
    clock.nowMs = ms;
    for (const replica of set.list()) set.endAttempt(replica, "regular", "slow");
  }
  expect(seen.map(({ kind }) => kind)).toEqual(["replica-ejected", "replica-ejected"]);
});

test("a closed set opens and closes no further replica", async () => {
  const { set, update, choose, end, seen, closed } = openSet(["a", "b"]);
  end(choose(), "timeout", 2);
  await set.close();
  update("c");
  expect([seen.map(({ kind }) => kind), closed]).toEqual([
    ["replica-ejected", "replica-removed"],
    ["a", "b"],
  ]);
});

const respond = (status: number, headers: ResponseHeaders = {}): TransportResult<Buffer> => ({
  ...{ kind: "response", status, headers, rawHeaders: [], body: Buffer.of() },
});
const failWith = (reason: TransportFailure["reason"]): TransportResult<Buffer> => ({
  ...{ kind: "failed", reason, cause: new Error(reason) },
});

test.each([
  [respond(200), "success", undefined],
  [respond(500), "success", undefined],
  [respond(502), "failure", "status"],
  [respond(503), "failure", "status"],
  [respond(504, { connection: "close" }), "failure", "status"],
  [respond(503, { "retry-after": "2" }), "success", undefined],
  [respond(503, { "retry-after": "2", connection: "close" }), "draining", undefined],
  [respond(200, { connection: "close" }), "draining", undefined],
  [failWith("reset"), "failure", "reset"],
  [failWith("refused"), "failure", "refused"],
  [failWith("attempt-timeout"), "failure", "timeout"],
  [failWith("timeout"), "failure", undefined],
  [failWith("too-large"), "inconclusive", undefined],
  [failWith("aborted"), "inconclusive", undefined],
])("%j is %s for the replica's health, and a reason to retry: %s", (result, outcome, reason) => {
  expect([toOutcome(result, 10), toRetryReason(result)]).toEqual([outcome, reason]);
});

test.each([
  ["timeout", "timeout"],
  ["attempt-timeout", "timeout"],
  ["refused", "timeout"],
  ["reset", "failure"],
  ["aborted", "inconclusive"],
] as const)("after 450 ms, %s is the outcome %s", (reason, outcome) => {
  expect(toOutcome(failWith(reason), 450)).toBe(outcome);
});

test.each([199, 600])("a response with status %i is not HTTP", (status) => {
  expect(rejectInvalid(respond(status))).toMatchObject({ kind: "failed", reason: "reset" });
});

test.each<[connection: string | readonly string[] | undefined, hasClose: boolean]>([
  [undefined, false],
  ["Keep-Alive, Upgrade", false],
  ["closed", false],
  ["X-Hop, Close", true],
  [["keep-alive", "close"], true],
])("Connection: %j contains close: %s", (connection, hasClose) => {
  expect(hasCloseOption(connection)).toBe(hasClose);
});
