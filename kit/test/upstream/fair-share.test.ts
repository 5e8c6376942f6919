import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Transport, TransportResponse } from "../../src/upstream/transport.ts";
import { createUpstream } from "../../src/upstream/upstream.ts";
import { start } from "./replica.ts";
import { createDraws, open, read } from "./requests.ts";

const ok: TransportResponse<Buffer> = {
  kind: "response",
  status: 200,
  headers: {},
  rawHeaders: [],
  body: Buffer.from("ok"),
};

test.each([1, 2, 3])(
  "beside %i callers with 500 requests each, 20 callers with few are never rejected",
  async (hogs) => {
    const held: ((response: typeof ok) => void)[] = [];
    const transport: Transport<undefined, Buffer> = () => new Promise((resolve) => held.push(resolve));
    const upstream = createUpstream<undefined>({
      urls: ["http://127.0.0.1:9"],
      requestsMax: 256,
      open: () => undefined,
      close: () => Promise.resolve(),
      probeTransport: () => Promise.resolve(ok),
    });
    const draw = createDraws(hogs);
    const pending = new Map<string, number>();
    const rejected: string[] = [];
    const send = async (caller: string) => {
      pending.set(caller, (pending.get(caller) ?? 0) + 1);
      const result = await upstream.send({ ...read, caller, timeoutMs: 1_000_000 }, transport);
      if (result.kind === "failed") rejected.push(caller);
      pending.set(caller, (pending.get(caller) ?? 0) - 1);
    };
    const respondToSome = (count: number) => {
      for (let left = count; left > 0; left--) held.splice(Math.floor(draw() * held.length), 1)[0]?.(ok);
    };
    const sendUpTo = (max: number, callers: readonly string[]) => {
      for (const caller of callers) if ((pending.get(caller) ?? 0) < max) void send(caller);
    };
    // In turn: a caller that is first takes three quarters before the next one, until its requests end.
    const many = Array.from({ length: 500 * hogs }, (_, index) => `hog ${index % hogs}`);
    const few = Array.from({ length: 20 }, (_, index) => `light ${index}`);
    for (let turn = 0; turn < 40; turn++) {
      sendUpTo(500, many);
      sendUpTo(1, few);
      await nextTurn();
      respondToSome(draw() * 60);
      await nextTurn();
    }
    expect(rejected.filter((caller) => caller.startsWith("light"))).toEqual([]);
    expect(rejected.length).toBeGreaterThan(0);
    respondToSome(held.length);
    await upstream.close();
  },
);

test("a caller alone has three quarters of all places, and requests without a caller have the rest", async () => {
  const held: ServerResponse[] = [];
  const [replica] = await start(1, (response) => void held.push(response));
  const { upstream } = open([replica.url], { requestsMax: 8 });
  const callers = ["a", "a", "a", "a", "a", "a", "a", undefined, undefined, undefined];
  const sent = callers.map((caller) => upstream.send({ ...read, caller }));
  await expect.poll(() => held.length).toBe(8);
  for (const response of held) response.end("ok");
  const results = await Promise.all(sent);
  const rejected = results.flatMap((result, index) => (result.kind === "failed" ? [[index, result]] : []));
  expect(rejected).toMatchObject([
    [6, { reason: "overloaded", cause: new Error("The caller has its share: 6 of 8 are in flight") }],
    [9, { reason: "overloaded", cause: new Error("No place is free: 8 of 8 are in flight") }],
  ]);
});
