import { afterEach, beforeEach, expect, test } from "vitest";
import { startVirtualLoop, type VirtualLoop } from "../testing/virtual-loop.ts";
import { type Admission, type AdmissionState, createAdmission } from "./admission.ts";
import { createCallerCosts } from "./caller-costs.ts";
import { type PriorityClass, priorityClasses } from "./priority.ts";
import { createWaitingRequests } from "./waiting-requests.ts";

let admission: Admission;
let readState: () => AdmissionState;
/** The classes of the requests that were reported to the observer. */
let admitted: PriorityClass[] = [];
let rejected: (PriorityClass | "unread")[] = [];

let isStarved = false;

function start(isOn = true, queueDelayMs?: () => number): void {
  isStarved = false;
  // New ones, since requests of an earlier test may still wait.
  const [nowAdmitted, nowRejected]: [typeof admitted, typeof rejected] = [[], []];
  admitted = nowAdmitted;
  rejected = nowRejected;
  admission = createAdmission({
    isOn,
    queueDelayMs,
    // Not that of this process: other tests run beside it.
    starvation: { isStarved: () => isStarved, close: () => {} },
    observer: {
      onAdmitted: (priority) => nowAdmitted.push(priority),
      onRejected: (priority) => nowRejected.push(priority),
      expose: (read) => (readState = read),
    },
  });
}
let loop: VirtualLoop;
beforeEach(() => (loop = startVirtualLoop()));
afterEach(() => {
  admission?.close();
  loop.stop();
});

/** Lets iterations of the event loop pass that take 10 ms each. */
async function pass(iterations: number): Promise<void> {
  for (let passed = 0; passed < iterations; passed++) {
    loop.block(10);
    await loop.nextIteration();
  }
}

/** Enters requests that use the event loop for a millisecond each. Resolves to the number of served requests of each class. */
async function load(classes: readonly PriorityClass[]) {
  const served = { critical: 0, normal: 0, background: 0 };
  const serve = async (priority: PriorityClass) => {
    if (!(await admission.enter(priority, "ada"))) return;
    await loop.nextIteration();
    loop.block(1);
    served[priority]++;
    admission.leave("ada", 1);
  };
  await Promise.all(classes.map(serve));
  return served;
}

const list = (count: number, priority: PriorityClass) => Array.from({ length: count }, () => priority);

test("requests that wait for a subgraph are all admitted, since the event loop is idle", async () => {
  start();
  const entered = await Promise.all(
    list(1_000, "background").map(async (priority) => admission.enter(priority, "ada")),
  );
  expect(entered.every((isAdmitted) => isAdmitted)).toBe(true);
  expect(readState()).toMatchObject({ inFlight: 1_000, waiting: 0 });
});

test("the delay of another queue lowers the limit as that of the event loop does, also while no request waits", async () => {
  let delayMs = 20;
  start(true, () => delayMs);
  for (const priority of list(30, "normal")) await admission.enter(priority, "ada");
  await loop.sleep(1_000);
  expect(readState().limit).toBeLessThan(30);
  const waiting = Promise.resolve(admission.enter("normal", "ada"));
  await loop.sleep(1_000);
  expect(readState().limit).toBe(4);
  delayMs = 0;
  expect(await waiting).toBe(true);
});

test("a request that ends admits a waiting one in the same iteration of the event loop", async () => {
  start();
  while (admission.enter("normal", "ada") === true);
  let isAdmitted = false;
  void Promise.resolve(admission.enter("normal", "ada")).then((decision) => (isAdmitted = decision));
  for (let ended = 0; ended < 2; ended++) admission.leave("ada", 0);
  await loop.nextIteration();
  expect(isAdmitted).toBe(true);
});

test("an overloaded process serves all critical requests, and rejects others", async () => {
  start();
  const served = await load([...list(1_000, "normal"), ...list(1_000, "background"), ...list(200, "critical")]);
  expect(served.critical).toBe(200);
  expect(served.normal).toBeLessThan(1_000);
  expect(served.background).toBeLessThan(1_000);
  expect(served.normal + served.background + rejected.length).toBe(2_000);
  expect(rejected).not.toContain("critical");
});

test("each request is counted by its class once, as admitted or as rejected, whether it waited or not", async () => {
  start();
  const served = await load([...list(1_000, "normal"), ...list(1_000, "background"), ...list(100, "critical")]);
  const countOf = (classes: readonly string[], one: PriorityClass) => classes.filter((each) => each === one).length;
  for (const one of priorityClasses) expect(countOf(admitted, one)).toBe(served[one]);
  for (const [one, sent] of [
    ["normal", 1_000],
    ["background", 1_000],
    ["critical", 100],
  ] as const)
    expect(countOf(rejected, one)).toBe(sent - served[one]);
  expect(Math.min(served.normal, rejected.length)).toBeGreaterThan(0);
});

test("a burst that is served within 100 ms is no overload", async () => {
  start();
  expect(await load(list(80, "normal"))).toMatchObject({ normal: 80 });
  expect(rejected).toEqual([]);
});

test("while the process is overloaded, a caller that has used little CPU time is served before others of its class", async () => {
  start();
  const served = { quiet: 0, noisy: 0 };
  const serve = async (caller: "quiet" | "noisy") => {
    if (!(await admission.enter("normal", caller))) return;
    await loop.nextIteration();
    loop.block(1);
    served[caller]++;
    admission.leave(caller, 1);
  };
  const requests: Promise<void>[] = [];
  // Four times as many requests as the event loop can serve.
  for (let wave = 0; wave < 40; wave++) {
    for (let index = 0; index < 40; index++) requests.push(serve(index % 20 === 0 ? "quiet" : "noisy"));
    await loop.sleep(10);
  }
  await Promise.all(requests);
  expect(served.quiet / 80).toBeGreaterThan(1.5 * (served.noisy / 1_520));
  expect(rejected.length).toBeGreaterThan(0);
});

test("a few clients that each wait for their response are never rejected, however slow their requests are", async () => {
  start();
  const client = async () => {
    for (let sent = 0; sent < 10; sent++) expect(await load(["background"])).toMatchObject({ background: 1 });
  };
  await Promise.all(Array.from({ length: 32 }, client));
  expect(rejected).toEqual([]);
});

test("50 clients that each wait for their response are not rejected while other processes take the core", async () => {
  start();
  isStarved = true;
  const client = async () => {
    for (let sent = 0; sent < 30; sent++) expect(await load(["background"])).toMatchObject({ background: 1 });
  };
  await Promise.all(Array.from({ length: 50 }, client));
  expect(rejected).toEqual([]);
  expect(readState().limit).toBeGreaterThanOrEqual(64);
});

test("more requests at once than the event loop can serve in a second are shed, also while other processes take the core", async () => {
  start();
  isStarved = true;
  const served = await load(list(3_000, "normal"));
  expect(served.normal).toBeLessThan(1_500);
});

test("a few clients are never rejected, although one request of their caller used much more CPU time than the later ones", async () => {
  start();
  const startMs = performance.now();
  let peakMs = 400;
  const client = async () => {
    while (performance.now() < startMs + 3_000 && (await admission.enter("normal", "ada"))) {
      await loop.nextIteration();
      loop.block(1);
      const isPeak = readState().limit < 8 && peakMs > 0;
      admission.leave("ada", isPeak ? peakMs : 0);
      if (isPeak) peakMs = 0;
    }
  };
  await Promise.all(Array.from({ length: 32 }, client));
  expect(rejected).toEqual([]);
});

test("critical requests that a standing queue cannot serve are rejected after a while", async () => {
  start();
  // 64 requests are admitted, and never end.
  list(264, "normal").forEach((priority) => void admission.enter(priority, "ada"));
  await pass(30);
  list(40, "critical").forEach((priority) => void admission.enter(priority, "ada"));
  await pass(60);
  expect(rejected.filter((priority) => priority === "critical")).toHaveLength(40);
});

test("an overload that rejects requests after a wait, without a full queue, remains an overload", async () => {
  start();
  const requests: Promise<unknown>[] = [];
  const waiting: number[] = [];
  // Twice as many requests as the event loop can serve. In the time in which a request expires, fewer arrive than the queue has places.
  for (let wave = 0; wave < 150; wave++) {
    requests.push(load(list(20, "normal")));
    await loop.sleep(10);
    waiting.push(readState().waiting);
  }
  await Promise.all(requests);
  expect(Math.max(...waiting.slice(0, 50))).toBeGreaterThan(64);
  expect(Math.max(...waiting.slice(50))).toBeLessThanOrEqual(64);
});

test("the limit falls while admitted requests block the event loop, and rises when it is idle", async () => {
  start();
  await Promise.all(list(200, "normal").map(async (priority) => admission.enter(priority, "ada")));
  for (let late = 0; late < 3; late++) {
    loop.block(40);
    await loop.sleep(0);
  }
  const { limit } = readState();
  expect(limit).toBeLessThanOrEqual(200);
  expect(await admission.enter("background", "ada")).toBe(true);
  expect(readState().limit).toBeGreaterThan(limit);
});

test("a request of any class that has waited 10 s in a short queue is rejected", async () => {
  start(true, () => 20);
  // These wait for a slow service, and never end.
  list(64, "normal").forEach((priority) => void admission.enter(priority, "ada"));
  await loop.sleep(1_000);
  list(10, "critical").forEach((priority) => void admission.enter(priority, "ada"));
  list(10, "normal").forEach((priority) => void admission.enter(priority, "ada"));
  await loop.sleep(9_990);
  expect(rejected).toEqual([]);
  await loop.sleep(20);
  expect(rejected).toEqual([...list(10, "critical"), ...list(10, "normal")]);
  expect(readState()).toMatchObject({ inFlight: 64, waiting: 0 });
});

test("a request that waits is rejected when its client's deadline passes, whatever waits before it", async () => {
  start(true, () => 20);
  // These wait for a slow service, and never end.
  list(64, "normal").forEach((priority) => void admission.enter(priority, "ada"));
  await loop.sleep(1_000);
  const endsAtMs = performance.now() + 200;
  list(5, "critical").forEach((priority) => void admission.enter(priority, "ada"));
  list(10, "critical").forEach((priority) => void admission.enter(priority, "ada", endsAtMs));
  await loop.sleep(198);
  expect(rejected).toEqual([]);
  await loop.sleep(4);
  expect(rejected).toEqual(list(10, "critical"));
  expect(readState()).toMatchObject({ inFlight: 64, waiting: 5 });
});

test("at most 4,000 requests wait, of whatever class", () => {
  start();
  const entered = list(64 + 4_001, "critical").map((priority) => admission.enter(priority, "ada"));
  expect(entered.slice(0, 64)).toEqual(Array.from({ length: 64 }, () => true));
  expect(entered.slice(64, -1)).not.toContain(false);
  expect(entered.at(-1)).toBe(false);
  expect(readState()).toMatchObject({ inFlight: 64, waiting: 4_000 });
});

test("with admission off, every request is admitted at once", () => {
  start(false);
  const entered = list(5_000, "background").map((priority) => admission.enter(priority, "ada"));
  expect(entered.every((isAdmitted) => isAdmitted === true)).toBe(true);
  expect(admitted).toHaveLength(5_000);
});

test("waiting requests leave by class, then by the caller's bucket; a tenth of the places is for each lower class", () => {
  const waiting = createWaitingRequests();
  const left: string[] = [];
  const add = (name: string, priority: PriorityClass, bucket: number) =>
    waiting.add(priority, bucket, { enteredMs: 0, endsAtMs: Infinity, decide: () => left.push(name) });
  for (let index = 0; index < 6; index++) add("critical", "critical", 0);
  add("noisy", "normal", 7);
  add("quiet", "normal", 0);
  add("background", "background", 0);
  while (waiting.length > 0) waiting.take("oldest")?.decide(true);
  expect(left).toEqual([...list(3, "critical"), "quiet", ...list(3, "critical"), "noisy", "background"]);
});

test("waiting requests of a class leave in the order of their arrival, whatever their bucket", () => {
  const waiting = createWaitingRequests();
  const levels = [
    ["normal", 7],
    ["normal", 0],
    ["normal", 7],
    ["critical", 0],
    ["normal", 3],
  ] as const;
  levels.forEach(([priority, bucket], enteredMs) =>
    waiting.add(priority, bucket, { enteredMs, endsAtMs: Infinity, decide: () => {} }),
  );
  const left = Array.from({ length: 6 }, () => waiting.take("arrival")?.enteredMs);
  expect(left).toEqual([3, 0, 1, 2, 4, undefined]);
  expect(waiting.length).toBe(0);
});

test("in a long queue the newest normal request leaves first, and the oldest critical one", () => {
  const waiting = createWaitingRequests();
  for (const enteredMs of [1, 2]) waiting.add("critical", 0, { enteredMs, endsAtMs: Infinity, decide: () => {} });
  for (const enteredMs of [3, 4]) waiting.add("normal", 0, { enteredMs, endsAtMs: Infinity, decide: () => {} });
  const left = Array.from({ length: 4 }, () => waiting.take("newest")?.enteredMs);
  expect(left).toEqual([1, 2, 4, 3]);
});

test("the oldest of the least important requests is dropped first, and critical ones expire later than others", () => {
  const waiting = createWaitingRequests();
  for (const enteredMs of [1, 2]) waiting.add("critical", 0, { enteredMs, endsAtMs: Infinity, decide: () => {} });
  for (const enteredMs of [3, 4]) waiting.add("normal", 0, { enteredMs, endsAtMs: Infinity, decide: () => {} });
  for (const enteredMs of [5, 6]) waiting.add("background", 0, { enteredMs, endsAtMs: Infinity, decide: () => {} });
  expect(waiting.drop()?.enteredMs).toBe(5);
  const removeExpired = (...limits: [nowMs: number, waitMs: number, criticalWaitMs: number]) =>
    waiting.removeExpired(...limits).map(({ enteredMs }) => enteredMs);
  expect(removeExpired(104, 100, 103)).toEqual([3]);
  expect(removeExpired(104, 100, 103)).toEqual([]);
  expect(waiting.length).toBe(4);
  // One request of each lower class remains, and all critical ones.
  expect(waiting.drop()).toBeUndefined();
  expect(removeExpired(104, 100, 101)).toEqual([1, 2]);
});

test("each waiting request is removed at its own end, whatever ended before it", () => {
  const waiting = createWaitingRequests();
  for (const endsAtMs of [30, 10, Infinity, 20]) waiting.add("normal", 0, { enteredMs: 0, endsAtMs, decide: () => {} });
  const removedAt = (nowMs: number) => waiting.removeExpired(nowMs, 1_000, 1_000).map(({ endsAtMs }) => endsAtMs);
  expect([5, 10, 15, 20, 40].map(removedAt)).toEqual([[], [10], [], [20], [30]]);
  expect(waiting.length).toBe(1);
});

test("a request outranks a full queue by its class, by its caller, or as the only one of its class", () => {
  const waiting = createWaitingRequests();
  const add = (priority: PriorityClass, bucket: number) =>
    waiting.add(priority, bucket, { enteredMs: 0, endsAtMs: Infinity, decide: () => {} });
  add("normal", 0);
  add("normal", 3);
  expect(waiting.outranks("critical", 7)).toBe(true);
  expect(waiting.outranks("normal", 2)).toBe(true);
  expect(waiting.outranks("normal", 3)).toBe(false);
  expect(waiting.outranks("background", 7)).toBe(true);
  add("background", 7);
  expect(waiting.outranks("background", 7)).toBe(false);
  expect(waiting.outranks("background", 6)).toBe(true);
  // A single background request keeps its place.
  expect(waiting.outranks("normal", 3)).toBe(false);
  add("background", 7);
  expect(waiting.outranks("normal", 3)).toBe(true);
});

test("a standing queue rejects at once what is not more important than its requests, and serves critical requests", async () => {
  start();
  // 64 requests are admitted. The event loop is blocked, so that none of the others is.
  const fill = (count: number) => list(count, "normal").map((priority) => admission.enter(priority, "ada"));
  expect(fill(264)).not.toContain(false);
  await pass(30);
  expect(rejected.length).toBeGreaterThan(0);
  expect(fill(40)).toContain(false);
  expect(admission.enter("critical", "ada")).toBeInstanceOf(Promise);
  await pass(30);
  expect(rejected).not.toContain("critical");
});

test("a caller's CPU time is halved each second, and does not count for others", () => {
  let atMs = 0;
  const costs = createCallerCosts(() => atMs, 1);
  costs.add("noisy", 80);
  expect(costs.bucketOf("noisy")).toBe(5);
  expect(costs.bucketOf("quiet")).toBe(0);
  atMs = 1_000;
  expect(costs.bucketOf("noisy")).toBe(4);
  atMs = 60_000;
  expect(costs.bucketOf("noisy")).toBe(0);
});
