import { expect, test } from "vitest";
import { createReplicaHealth, type Verdict } from "./replica-health.ts";

function setUp({ mayEject = true } = {}) {
  const clock = { nowMs: 0 };
  const seen: (number | string)[] = [];
  const changes: boolean[] = [];
  const knocks: ((isThere: boolean) => void)[] = [];
  const health = createReplicaHealth({
    nowMs: () => clock.nowMs,
    knock: () => new Promise((resolve) => void knocks.push(resolve)),
    mayEject: () => mayEject,
    onChanged: () => void changes.push(health.isEjected),
    onEjected: ({ pauseMs }) => void seen.push(pauseMs),
    onLeaving: ({ pauseMs }) => void seen.push(`leaving ${pauseMs}`),
    onBack: () => void seen.push("back"),
  });
  const run = (...verdicts: Verdict[]) => verdicts.forEach((verdict) => health.end(health.begin(), verdict));
  const fail = (count: number) => run(...Array.from({ length: count }, () => "bad" as const));
  const answerKnock = async (isThere: boolean) => {
    knocks.splice(0).forEach((answer) => answer(isThere));
    await Promise.resolve();
  };
  return { clock, seen, changes, health, run, fail, knocks, answerKnock };
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

test.each(["leaving", "refused"] as const)(
  "one that is %s once is doubted: the next read after a look says what is so",
  async (verdict) => {
    const { clock, seen, changes, health, run, answerKnock } = setUp();
    clock.nowMs = 100_000;
    run(verdict);
    expect([health.isEjected, health.isDue(true), health.isThere, health.isDue(false)]).toEqual([
      ...[true, true, false, false],
    ]);
    health.look();
    await answerKnock(true);
    expect([health.isDue(true), health.isThere]).toEqual([true, true]);
    run("good");
    expect([health.isEjected, changes, seen]).toEqual([false, [true, false], []]);
    run(verdict);
    expect(health.isThere).toBe(false);
    run(verdict);
    expect(seen).toEqual([verdict === "leaving" ? "leaving 1000" : 1_000]);
    expect(health.isDue(true)).toBe(false);
    clock.nowMs += 1_000;
    run("good");
    expect([health.isEjected, seen.at(-1)]).toEqual([false, "back"]);
  },
);

test("one that is doubted and where nobody is any more is left out, as it was told", async () => {
  for (const verdict of ["leaving", "refused"] as const) {
    const { seen, health, run, answerKnock } = setUp();
    run(verdict);
    health.look();
    await answerKnock(false);
    expect([health.isDue(true), seen]).toEqual([false, [verdict === "leaving" ? "leaving 1000" : 1_000]]);
  }
});

test("failures and words of leaving are not added up", () => {
  const { health, run, fail } = setUp();
  fail(4);
  run("leaving", "good");
  fail(4);
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

test("while somebody looks whether it is there nobody else does; where nobody is, it is looked again a second later", async () => {
  const { clock, health, fail, knocks, answerKnock } = setUp();
  fail(5);
  for (clock.nowMs = 1_000; clock.nowMs <= 5_000; clock.nowMs += 1_000) {
    expect([health.isDue(true), health.isThere]).toEqual([true, false]);
    health.look();
    health.look();
    expect([health.isDue(true), knocks.length]).toEqual([false, 1]);
    await answerKnock(false);
    clock.nowMs += 999;
    expect(health.isDue(true)).toBe(false);
    clock.nowMs -= 999;
  }
});

test("one that was found is probed; when that fails, the pause grows and it is looked for again", async () => {
  const { clock, health, fail, answerKnock } = setUp();
  fail(5);
  clock.nowMs = 1_000;
  health.look();
  await answerKnock(true);
  expect([health.isDue(true), health.isThere]).toEqual([true, true]);
  fail(1);
  clock.nowMs = 2_999;
  expect([health.isDue(true), health.isThere]).toEqual([false, false]);
  clock.nowMs = 3_000;
  expect([health.isDue(true), health.isThere]).toEqual([true, false]);
});

test("when nobody else is left it is probed without a look", () => {
  const { health, fail } = setUp();
  fail(5);
  health.endPause();
  expect([health.isDue(true), health.isThere]).toEqual([true, true]);
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

test("a look is good for a quarter of a second, or once looks have found somebody for five", async () => {
  const { clock, health, fail, answerKnock } = setUp();
  fail(5);
  const look = async (isThere = true) => {
    health.look();
    await answerKnock(isThere);
  };
  clock.nowMs = 500;
  await look();
  await look(false);
  clock.nowMs = 1_000;
  await look();
  clock.nowMs = 1_249;
  expect(health.isThere).toBe(true);
  clock.nowMs = 1_250;
  expect(health.isThere).toBe(false);
  clock.nowMs = 5_999;
  await look();
  clock.nowMs = 6_500;
  expect(health.isThere).toBe(false);
  await look();
  clock.nowMs = 60_000;
  expect(health.isThere).toBe(true);
});
