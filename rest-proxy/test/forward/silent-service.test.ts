import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { hang, respondOk, start } from "../../../kit/test/upstream/replica.ts";
import { open, outcomeOf, read, testBothTransports, write } from "./service-client.ts";

testBothTransports("while a service is silent, requests are 503 with Retry-After at once", async (transport) => {
  const replicas = await start(2, hang);
  const { client, seen } = open(replicas.map(({ url }) => url));
  const breakerChanges = () =>
    seen.flatMap((observation) => (observation.kind === "breaker-changed" ? [observation.isOpen] : []));
  const waiting: Promise<string>[] = [];
  while (!breakerChanges().includes(true) && waiting.length < 200) {
    waiting.push(outcomeOf(client[transport](read)));
    await sleep(50);
  }
  for (const request of [read, write]) {
    await expect(client[transport](request)).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      retryAfterSeconds: 1,
    });
  }
  for (const replica of replicas) replica.respond = respondOk;
  await vi.waitUntil(() => breakerChanges().at(-1) === false, { timeout: 20_000 });
  expect(await outcomeOf(client[transport](read))).toBe("200 ok");
  await Promise.all(waiting);
});

test("a service whose slow responses take all places is probed nevertheless, and not cut off", async () => {
  const [replica] = await start(1);
  const held: ServerResponse[] = [];
  let probes = 0;
  replica.respond = (response, request) => {
    if (request.url !== "/health/live") return void held.push(response);
    probes++;
    respondOk(response, request);
  };
  const { client, seen } = open([replica.url], { requestsMax: 8 });
  const reads = Array.from({ length: 8 }, () => outcomeOf(client.sendByUndici(read)));
  const isProbed = () => {
    client.noteShared();
    return probes > 0 || seen.length > 0;
  };
  await vi.waitUntil(isProbed, { timeout: 20_000 });
  for (const response of held) response.end("ok");
  expect(new Set(await Promise.all(reads))).toEqual(new Set(["200 ok"]));
  expect(seen).toEqual([]);
});
