import { once } from "node:events";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createHeldRejections, type HeldRejections } from "./held-rejections.ts";

let rejections: HeldRejections;
/** How long each rejection waited, in the order in which they were sent. */
let waits: { readonly number: number; readonly ms: number }[];
let heldNumber = 0;
/** That of all rejections. */
let response: ServerResponse;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  rejections = createHeldRejections();
  response = new ServerResponse(new IncomingMessage(new Socket())).setMaxListeners(0);
  waits = [];
  heldNumber = 0;
});
afterEach(() => vi.useRealTimers());

/** Rejects so many requests in each millisecond. */
async function reject(perMs: number, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed++) {
    for (let index = 0; index < perMs; index++) hold();
    await vi.advanceTimersByTimeAsync(1);
  }
}

function hold(): void {
  const number = heldNumber++;
  const startMs = performance.now();
  rejections.hold(response, () => waits.push({ number, ms: performance.now() - startMs }));
}

test("a thousand rejections a second are sent at once", async () => {
  await reject(1, 3_000);
  expect(waits).toHaveLength(3_000);
  expect(Math.max(...waits.map(({ ms }) => ms))).toBe(0);
});

test("more of them wait longer and longer, in their order, and at most for a second", async () => {
  await reject(2, 500);
  const halfFull = waits.at(-1)?.ms ?? 0;
  expect(halfFull).toBeGreaterThan(200);
  expect(halfFull).toBeLessThan(300);
  await reject(4, 3_000);
  expect(waits.at(-1)?.ms).toBeGreaterThanOrEqual(990);
  await vi.advanceTimersByTimeAsync(1_005);
  expect(rejections.count()).toBe(0);
  expect(waits.map(({ number }) => number)).toEqual(Array.from({ length: 13_000 }, (_, number) => number));
  expect(Math.max(...waits.map(({ ms }) => ms))).toBeLessThanOrEqual(1_005);
});

test("once there are few again, none waits", async () => {
  await reject(4, 2_000);
  await vi.advanceTimersByTimeAsync(2_000);
  waits = [];
  await reject(1, 100);
  expect(waits.map(({ ms }) => ms)).toEqual(Array.from({ length: 100 }, () => 0));
});

test("so many rejections that they would take too much memory are sent at once", () => {
  for (let number = 0; number < 20_000; number++) hold();
  expect(rejections.count()).toBe(10_000);
  expect(waits.length).toBe(10_000);
});

test("a client that has disconnected before its rejection is not counted", async () => {
  await once(response.destroy(), "close");
  for (let number = 0; number < 500; number++) hold();
  expect(rejections.count()).toBe(0);
  await vi.advanceTimersByTimeAsync(1_005);
  expect(waits).toHaveLength(500);
});

test("those of clients that disconnect meanwhile are not counted", async () => {
  for (let number = 0; number < 500; number++) hold();
  expect(rejections.count()).toBeGreaterThan(400);
  response.emit("close");
  expect(rejections.count()).toBe(0);
  await vi.advanceTimersByTimeAsync(1_005);
  expect(waits).toHaveLength(500);
  expect(rejections.count()).toBe(0);
});
