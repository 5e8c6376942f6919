import { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { Transport } from "../../src/upstream/transport.ts";
import { createUpstream } from "../../src/upstream/upstream.ts";
import { read } from "./requests.ts";

test("a probe restores its replica at the head of the response, however slowly the client reads the body", async () => {
  const [bad, good] = ["http://127.0.0.1:8/", "http://127.0.0.1:9/"];
  const clock = { nowMs: 0, badStatus: 503 };
  const sent: string[] = [];
  const transport: Transport<undefined, Readable> = ({ name }) => {
    sent.push(name);
    const status = name === bad ? clock.badStatus : 200;
    return Promise.resolve({
      kind: "response",
      status,
      headers: {},
      rawHeaders: [],
      body: new Readable({ read() {} }),
    });
  };
  const seen: string[] = [];
  const upstream = createUpstream<undefined>({
    urls: [bad, good],
    nowMs: () => clock.nowMs,
    random: () => 0,
    open: () => undefined,
    close: () => Promise.resolve(),
    probeTransport: transport,
    observe: ({ kind }) => seen.push(kind),
  });
  for (let count = 0; count < 20; count++) await upstream.send(read, transport);
  expect(seen).toContain("replica-ejected");
  clock.nowMs = 1_000;
  clock.badStatus = 200;
  sent.length = 0;
  for (let count = 0; count < 10; count++) await upstream.send(read, transport);
  expect(seen).toContain("replica-restored");
  expect(sent.filter((name) => name === bad).length).toBeGreaterThan(1);
  await upstream.close();
});
