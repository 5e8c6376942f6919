import { expect, test } from "vitest";
import type { AttemptOutcome } from "./replica-health.ts";
import { createReplicaSet, type Replica, type ReplicaObservation } from "./replica-set.ts";

function setUp(names: readonly string[]) {
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
  const choose = () => set.choose(true) as Replica<string>;
  const end = (replica: Replica<string>, outcome: AttemptOutcome, count = 1) => {
    for (let i = 0; i < count; i++) set.endAttempt(replica, set.startAttempt(replica), outcome);
  };
  return { clock, set, update, choose, end, seen, closed };
}

test("the replica with fewer attempts in flight is chosen", () => {
  const { set, choose } = setUp(["a", "b"]);
  const a = choose();
  const role = set.startAttempt(a);
  expect([a.name, choose().name]).toEqual(["a", "b"]);
  set.endAttempt(a, role, "success");
  expect(choose().name).toBe("a");
});

test("an ejected replica is not chosen until its pause is over, and then for one probe", () => {
  const { clock, set, choose, end, seen } = setUp(["a", "b"]);
  const a = choose();
  end(a, "failure", 5);
  expect([choose().name, seen]).toEqual(["b", [expect.objectContaining({ kind: "replica-ejected", replica: "a" })]]);
  clock.nowMs = 1_000;
  expect(choose().name).toBe("a");
  set.startAttempt(a);
  expect(choose().name).toBe("b");
});

test.each([
  ["refused", "b"],
  ["timeout", "b"],
  ["status", undefined],
  ["reset", "a"],
] as const)("after %s on the only replica in service, the next attempt goes to %s", (reason, next) => {
  const { set, choose, end } = setUp(["a", "b"]);
  const b = set.chooseNext([choose()], "refused") as Replica<string>;
  end(b, "timeout", 2);
  expect(set.chooseNext([choose()], reason)?.name).toBe(next);
});

test("a healthy alternative is another replica that is healthy and was not tried", () => {
  const { set, update, choose, end } = setUp(["a", "b"]);
  const a = choose();
  expect(set.hasHealthyAlternative([a])).toBe(true);
  const b = set.chooseNext([a], "refused") as Replica<string>;
  expect(set.hasHealthyAlternative([a, b])).toBe(false);
  end(b, "failure");
  expect(set.hasHealthyAlternative([a])).toBe(false);
  end(b, "success");
  expect(set.hasHealthyAlternative([a])).toBe(true);
  update("a");
  expect(set.hasHealthyAlternative([a])).toBe(false);
});

test("an ejected replica whose address is removed is reported once, and late attempts have no effect", () => {
  const { set, update, choose, end, seen, closed } = setUp(["a", "b"]);
  const a = choose();
  const late = set.startAttempt(a);
  end(a, "timeout", 2);
  update("b");
  set.endAttempt(a, late, "failure");
  expect([seen.map(({ kind }) => kind), closed]).toEqual([["replica-ejected", "replica-removed"], ["a"]]);
});

test("a removed replica is not ejected", () => {
  const { update, choose, end, seen } = setUp(["a", "b"]);
  const a = choose();
  update("b", "c");
  end(a, "timeout", 2);
  expect(seen).toEqual([]);
});

test("a closed set opens and closes no further replica", async () => {
  const { set, update, choose, end, seen, closed } = setUp(["a", "b"]);
  end(choose(), "timeout", 2);
  await set.close();
  update("c");
  expect([seen.map(({ kind }) => kind), closed]).toEqual([
    ["replica-ejected", "replica-removed"],
    ["a", "b"],
  ]);
});
