import { expect, test } from "vitest";
import { createReplicaHealth, type Verdict } from "./replica-health.ts";

function setUp({ mayEject = true } = {}) {
  const clock = { nowMs: 0 };
  const seen: (number | string)[] = [];
  const health = createReplicaHealth({
    nowMs: () => clock.nowMs,
    mayEject: () => mayEject,
    onEjected: ({ pauseMs }) => void seen.push(pauseMs),
    onLeaving: ({ pauseMs }) => void seen.push(`leaving ${pauseMs}`),
    onBack: () => void seen.push("back"),
  });
  const run = (...verdicts: Verdict[]) => verdicts.forEach((verdict) => health.end(health.begin(), verdict));
  const fail = (count: number) => run(...Array.from({ length: count }, () => "bad" as const));
  return { clock, seen, health, run, fail };
}

test("five failures in a row eject a replica, four and a success between do not", () => {
  const { health, run, fail } = setUp();
  fail(4);
  run("good");
  fail(4);
  run("neither");
  expect(health.isEjected).toBe(false);
  fail(1);
  expect(health.isEjected).toBe(true);
});

test("a replica that says twice in a row that it leaves is ejected, and back when it no longer says so", () => {
  const { clock, seen, health, run } = setUp();
  run("good", "leaving", "good", "leaving");
  expect([health.isEjected, health.isWell]).toEqual([false, false]);
  run("leaving");
  expect(health.isEjected).toBe(true);
  clock.nowMs = 1_000;
  run("leaving");
  expect(health.isDue(true)).toBe(false);
  clock.nowMs = 3_000;
  run("good");
  expect(health.isEjected).toBe(false);
  expect(seen).toEqual(["leaving 1000", "back"]);
});

test("of one that never kept a connection a word of leaving says nothing", () => {
  const { health, run } = setUp();
  run("leaving", "leaving", "leaving");
  expect([health.isEjected, health.isWell, health.isSure]).toEqual([false, true, true]);
});

test("one that is absent is ejected at once, as leaving when it had said so", () => {
  const gone = setUp();
  gone.run("good", "absent");
  expect([gone.health.isEjected, gone.seen]).toEqual([true, [1_000]]);
  const left = setUp();
  left.run("good", "leaving", "absent");
  expect([left.health.isEjected, left.seen]).toEqual([true, ["leaving 1000"]]);
  const last = setUp({ mayEject: false });
  last.run("absent", "absent");
  expect([last.health.isEjected, last.health.isWell]).toEqual([false, false]);
});

test("failures and words of leaving are not added up", () => {
  const { health, run, fail } = setUp();
  fail(4);
  run("leaving");
  fail(4);
  run("leaving");
  expect(health.isEjected).toBe(false);
});

test("the last replica stays", () => {
  const { health, fail } = setUp({ mayEject: false });
  fail(100);
  expect(health.isEjected).toBe(false);
});

test("after its pause one request probes, and its success brings the replica back", () => {
  const { clock, seen, health, fail } = setUp();
  fail(5);
  clock.nowMs = 999;
  expect(health.isDue(true)).toBe(false);
  clock.nowMs = 1_000;
  expect(health.isDue(true)).toBe(true);
  const begun = health.begin();
  expect(health.isDue(true)).toBe(false);
  health.end(begun, "good");
  expect(health.isEjected).toBe(false);
  expect(seen).toEqual([1_000, "back"]);
});

test("each failed probe doubles the pause, up to half a minute", () => {
  const { clock, health, fail } = setUp();
  fail(5);
  const pauses = Array.from({ length: 7 }, () => {
    const begunMs = clock.nowMs;
    while (!health.isDue(true)) clock.nowMs += 500;
    fail(1);
    return clock.nowMs - begunMs;
  });
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

test("a replica that flaps is out for longer each time, one that held for long begins anew", () => {
  const { clock, seen, run, fail } = setUp();
  const failAndComeBack = () => {
    fail(5);
    clock.nowMs += 10_000;
    run("good");
  };
  failAndComeBack();
  failAndComeBack();
  clock.nowMs += 30_001;
  failAndComeBack();
  expect(seen).toEqual([1_000, "back", 2_000, "back", 1_000, "back"]);
});

test("what was under way when the replica was ejected changes nothing any more", () => {
  const { clock, health, fail } = setUp();
  const [success, failure] = [health.begin(), health.begin()];
  fail(5);
  health.end(success, "good");
  health.end(failure, "bad");
  clock.nowMs = 1_000;
  expect([health.isEjected, health.isDue(true)]).toEqual([true, true]);
});

test("a probe whose caller leaves says nothing: the next one probes", () => {
  const { clock, health, run, fail } = setUp();
  fail(5);
  clock.nowMs = 1_000;
  run("neither");
  expect(health.isDue(true)).toBe(true);
});

test("a failure of one that came because nobody else was there does not grow the pause", () => {
  const { clock, health, fail } = setUp();
  fail(20);
  clock.nowMs = 1_000;
  expect(health.isDue(true)).toBe(true);
});

test("a request that must not be lost probes only when no other came for long", () => {
  const { clock, health, fail } = setUp();
  fail(5);
  clock.nowMs = 30_999;
  expect(health.isDue(false)).toBe(false);
  clock.nowMs = 31_000;
  expect(health.isDue(false)).toBe(true);
});
