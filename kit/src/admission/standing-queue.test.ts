import { expect, test } from "vitest";
import { createStandingQueue } from "./standing-queue.ts";

/**
 * A queue in virtual time, of a process that serves one request in a millisecond.
 * @param arrivals how many requests arrive in this millisecond.
 * @returns the milliseconds in which the queue was standing.
 */
function run(ms: number, arrivals: (ms: number) => number, isPaused: (ms: number) => boolean = () => false) {
  const queue = createStandingQueue();
  const standing: number[] = [];
  let length = 0;
  for (let now = 0; now < ms; now++) {
    length += arrivals(now);
    if (isPaused(now)) continue;
    length = Math.max(0, length - 1);
    queue.update(Math.floor(length), now);
    if (queue.isStanding) standing.push(now);
  }
  return standing;
}

test.each([
  [0.7, 110],
  [0.7, 200],
  [0.7, 400],
  [0.85, 110],
  [0.9, 50],
  [0.5, 450],
])("at %d of the capacity, the queue that a pause of %d ms leaves behind is a burst", (load, pauseMs) => {
  expect(
    run(
      6_000,
      () => load,
      (ms) => ms % 3_000 < pauseMs,
    ),
  ).toEqual([]);
});

test.each([1.1, 2, 10])(
  "at %d times the capacity the queue stands a quarter of a second after it became long",
  (load) => {
    const [first = Infinity, ...later] = run(3_000, () => load);
    const longAtMs = 32 / (load - 1);
    expect(first).toBeGreaterThanOrEqual(Math.floor(250 + longAtMs - 1));
    expect(first).toBeLessThanOrEqual(Math.ceil(252 + longAtMs));
    expect(later.at(-1)).toBe(2_999);
  },
);

test.each([
  [2, 50],
  [2, 200],
  [2, 245],
  [5, 100],
  [10, 20],
])("at %d times the capacity a queue of a second stands, also if all requests arrive in %d of 250 ms", (load, ms) => {
  let waiting = 0;
  let longerThanSecondMs = 0;
  const standing = run(4_000, (now) => {
    const arrivals = now % 250 < ms ? (load * 250) / ms : 0;
    waiting += arrivals - 1;
    if (waiting > 1_000) longerThanSecondMs ||= now;
    return arrivals;
  });
  const [first = Infinity] = standing;
  expect(first).toBeLessThanOrEqual(longerThanSecondMs + 252);
  expect(standing.length).toBe(4_000 - first);
});

test("a queue of constant length stands, as that of clients that each wait for their response", () => {
  const standing = run(2_000, (ms) => (ms === 0 ? 60 : 1));
  expect(standing[0]).toBe(251);
});

test("a queue no longer stands once it was short and rejected none for a quarter of a second", () => {
  const queue = createStandingQueue();
  for (let now = 0; now <= 300; now++) queue.update(100, now);
  expect(queue.isStanding).toBe(true);
  for (let now = 301; now <= 500; now++) queue.update(5, now);
  queue.recordRejection(500);
  for (let now = 501; now <= 750; now++) queue.update(5, now);
  expect(queue.isStanding).toBe(true);
  queue.update(5, 751);
  expect(queue.isStanding).toBe(false);
});
