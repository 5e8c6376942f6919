import { expect, test } from "vitest";
import { createReplicaSet, type Replica, type ReplicaObservation } from "./replica-set.ts";

/** Replicas that nobody is at, unless `there` has their names. */
function setUp(names: readonly string[]) {
  const clock = { nowMs: 0 };
  const there = new Set<string>();
  const knocks: string[] = [];
  const seen: ReplicaObservation[] = [];
  const closed: string[] = [];
  const set = createReplicaSet<string>({
    open: ({ name }) => name,
    close: (name) => Promise.resolve(void closed.push(name)),
    knock: ({ name }) => (knocks.push(name), Promise.resolve(there.has(name))),
    nowMs: () => clock.nowMs,
    random: () => 0,
    observe: (observation) => void seen.push(observation),
  });
  const update = (...some: readonly string[]) =>
    set.update(some.map((name) => ({ name, origin: `http://${name}:1`, path: "/", addresses: [] })));
  update(...names);
  const end = (replica: Replica<string>, verdict: "good" | "bad" | "leaving") =>
    set.end(replica, set.begin(replica), verdict);
  return { clock, set, update, end, there, knocks, seen, closed };
}

test("one that has not answered for a second is looked at", async () => {
  const { clock, set, end, there } = setUp(["a", "b"]);
  there.add("a");
  const a = choose(set);
  expect(await set.look(a, [])).toBe(true);
  end(a, "good");
  clock.nowMs = 999;
  expect(set.look(a, [])).toBeUndefined();
  clock.nowMs = 1_000;
  expect(await set.look(a, [])).toBe(true);
});

const choose = (set: ReturnType<typeof setUp>["set"]) => set.choose(true) as Replica<string>;

test("one that does well is not looked at, nor one that is alone, nor the last that is left to ask", () => {
  const { set, update, end, knocks } = setUp(["a", "b"]);
  const a = choose(set);
  end(a, "good");
  expect(set.look(a, [])).toBeUndefined();
  end(a, "bad");
  const b = set.chooseAgain([a], "refused") as Replica<string>;
  end(b, "bad");
  expect([b.name, set.look(b, [a])]).toEqual(["b", undefined]);
  update("a");
  expect(set.look(a, [])).toBeUndefined();
  expect(knocks).toEqual([]);
});

test("after a failure it is looked at, once for all who ask at the same time, and is left out when nobody is there", async () => {
  const { set, end, knocks, seen } = setUp(["a", "b"]);
  const a = choose(set);
  end(a, "bad");
  expect(await Promise.all([set.look(a, []), set.look(a, [])])).toEqual([false, false]);
  expect([knocks, seen]).toEqual([["a"], [expect.objectContaining({ kind: "replica-ejected", replica: "a" })]]);
  expect(choose(set).name).toBe("b");
});

test("who waits for a look is load: the next one goes elsewhere", async () => {
  const { set, there } = setUp(["a", "b"]);
  there.add("a");
  const a = choose(set);
  const looking = set.look(a, []);
  expect([a.name, choose(set).name]).toEqual(["a", "b"]);
  await looking;
  expect(choose(set).name).toBe("a");
});

test("one that is there after a failure is asked as before", async () => {
  const { set, end, there, seen } = setUp(["a", "b"]);
  there.add("a");
  const a = choose(set);
  end(a, "bad");
  expect(await set.look(a, [])).toBe(true);
  end(a, "good");
  expect([set.look(a, []), seen]).toEqual([undefined, []]);
});

test("one that took its leave, and is not there any more, has left", async () => {
  const { set, end, seen } = setUp(["a", "b"]);
  const a = choose(set);
  end(a, "good");
  end(a, "leaving");
  expect(await set.look(a, [])).toBe(false);
  expect(seen).toEqual([{ kind: "replica-leaving", replica: "a", pauseMs: 1_000 }]);
});

test("one that is left out is told gone when its address is nobody's any more, and by nothing afterwards", async () => {
  const { set, update, end, seen, closed } = setUp(["a", "b"]);
  const a = choose(set);
  end(a, "bad");
  const [late, looking] = [set.begin(a), set.look(a, [])];
  await looking;
  update("b");
  set.end(a, late, "bad");
  expect(await set.look(a, [])).toBeUndefined();
  expect([seen.map(({ kind }) => kind), closed]).toEqual([["replica-ejected", "replica-gone"], ["a"]]);
});

test("a look that ends after its replica is gone tells nothing", async () => {
  const { set, update, end, seen } = setUp(["a", "b"]);
  const a = choose(set);
  end(a, "bad");
  const looking = set.look(a, []);
  update("b", "c");
  expect(await looking).toBe(false);
  expect(seen).toEqual([]);
});

test("a set that was closed opens and closes nothing more", async () => {
  const { set, update, end, seen, closed } = setUp(["a", "b"]);
  const a = choose(set);
  end(a, "bad");
  await set.look(a, []);
  await set.close();
  update("c");
  expect([seen.map(({ kind }) => kind), closed]).toEqual([
    ["replica-ejected", "replica-gone"],
    ["a", "b"],
  ]);
});
