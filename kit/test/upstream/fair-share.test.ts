import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { respondOk, start } from "./replica.ts";
import { createDraws, failuresOf, open, read } from "./requests.ts";

test.each([1, 2, 3])(
  "beside %i callers with 500 requests each, 20 callers with few are never rejected",
  async (hogs) => {
    const [replica] = await start(1);
    const draw = createDraws(hogs);
    replica.respond = (response, request) => void setTimeout(respondOk, draw() * 20, response, request);
    const { upstream } = open([replica.url], { requestsMax: 256 });
    let areLightDone = false;
    let hogRejections = 0;
    const repeatUntilDone = async (caller: string) => {
      while (!areLightDone) {
        const result = await upstream.send({ ...read, caller });
        hogRejections += failuresOf([result]).length;
        if (result.kind === "failed") await sleep(50);
      }
    };
    const hogLoops = Array.from({ length: 500 * hogs }, (_, index) => repeatUntilDone(`hog ${index % hogs}`));
    const sendFew = async (caller: string) => {
      const failures: string[] = [];
      for (let sent = 0; sent < 10; sent++) failures.push(...failuresOf([await upstream.send({ ...read, caller })]));
      return failures;
    };
    const failures = await Promise.all(Array.from({ length: 20 }, (_, index) => sendFew(`light ${index}`)));
    areLightDone = true;
    await Promise.all(hogLoops);
    expect(failures.flat()).toEqual([]);
    expect(hogRejections).toBeGreaterThan(0);
  },
);

test("a caller alone has three quarters of all places, and requests without a caller have the rest", async () => {
  const held: ServerResponse[] = [];
  const [replica] = await start(1, (response) => void held.push(response));
  const { upstream } = open([replica.url], { requestsMax: 8 });
  const callers = [..."aaaaaaa", undefined, undefined, undefined];
  const sent = callers.map((caller) => upstream.send({ ...read, caller }));
  await expect.poll(() => held.length).toBe(8);
  for (const response of held) response.end("ok");
  const results = await Promise.all(sent);
  const rejected = results.flatMap((result, index) => (result.kind === "failed" ? [[index, result.reason]] : []));
  expect(rejected).toEqual([
    [6, "overloaded"],
    [9, "overloaded"],
  ]);
});
