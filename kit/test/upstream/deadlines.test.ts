import { once } from "node:events";
import { expect, test } from "vitest";
import { open, read, write } from "./calls.ts";
import { answerOk, silence, start } from "./replica.ts";

test("a silent replica is given up at the deadline, and told", async () => {
  const [replica] = await start(1);
  const silent = silence(replica);
  const { upstream } = open([replica.url]);
  const sent = upstream.send({ ...read, timeoutMs: 50 });
  const closed = once(await silent, "close");
  expect(await sent).toMatchObject({ kind: "failed", reason: "timeout" });
  await closed;
  expect(replica.calls).toBe(1);
});

test("a body that drips is given up at the deadline", async () => {
  const [replica] = await start(1);
  replica.answer = (response) => void response.write("a");
  const { upstream } = open([replica.url]);
  expect(await upstream.send({ ...read, timeoutMs: 50 })).toMatchObject({ kind: "failed", reason: "timeout" });
});

test("a caller that goes is answered at once, and the replica learns of it", async () => {
  const [replica] = await start(1);
  const silent = silence(replica);
  const { upstream, seen } = open([replica.url]);
  const caller = new AbortController();
  const sent = upstream.send({ ...read, signal: caller.signal });
  const closed = once(await silent, "close");
  caller.abort("gone");
  expect(await sent).toMatchObject({ kind: "failed", reason: "aborted", cause: "gone" });
  await closed;
  expect(seen).toEqual([]);
});

test("what was aborted before is not sent", async () => {
  const [replica] = await start(1);
  const { upstream } = open([replica.url]);
  const result = await upstream.send({ ...read, signal: AbortSignal.abort("gone") });
  expect(result).toEqual({ kind: "failed", reason: "aborted", cause: "gone" });
  expect(replica.calls).toBe(0);
});

test("what is aborted while it connects is not sent", async () => {
  const [replica] = await start(1);
  const { upstream } = open([replica.url]);
  const caller = new AbortController();
  const sent = upstream.send({ ...write, signal: caller.signal });
  caller.abort("gone");
  expect(await sent).toMatchObject({ reason: "aborted" });
  await upstream.send(read);
  expect(replica.calls).toBe(1);
});

test("a lookup that hangs is given up at the deadline", async () => {
  const { upstream } = open(["http://service.test"], { lookup: () => new Promise(() => {}) });
  expect(await upstream.send({ ...read, timeoutMs: 20 })).toMatchObject({ kind: "failed", reason: "timeout" });
});

test("more than may be under way fail at once, and room comes back", async () => {
  const [replica] = await start(1);
  const silent = silence(replica);
  const { upstream } = open([replica.url], { requestsMax: 1 });
  const held = upstream.send(read);
  const answer = await silent;
  expect(await upstream.send(read)).toMatchObject({ kind: "failed", reason: "overloaded" });
  replica.answer = answerOk;
  answer.end();
  await held;
  expect(await upstream.send(read)).toMatchObject({ kind: "answered" });
  expect(replica.calls).toBe(2);
});
