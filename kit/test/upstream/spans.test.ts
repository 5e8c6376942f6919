import { expect, test } from "vitest";
import { createSpanCollector } from "../../src/testing/trace.ts";
import type { Upstream, UpstreamRequest } from "../../src/upstream.ts";
import { open, read } from "./calls.ts";
import { answerOk, answerUnavailable, reset, silence, start } from "./replica.ts";

async function setUp() {
  const collector = createSpanCollector();
  const trace = await collector.createTrace("caller");
  async function send(upstream: Upstream, more: Partial<UpstreamRequest> = {}) {
    const parent = trace.begin("call", undefined);
    if (!parent) throw new Error("each request is traced");
    const traced = { parent, name: "ask things", attributes: { "tributary.subgraph": "things" } };
    await upstream.send({ ...read, ...more, traced });
    parent.end();
    return collector.spans();
  }
  return { send };
}

test("each attempt is a span below the request's, with its replica and what came of it, and the replica's own is below that", async () => {
  const { send } = await setUp();
  const told: unknown[] = [];
  const [first, second] = await start(2, (response, request) => {
    told.push(request.headers["traceparent"]);
    // Whoever is asked first cannot.
    (told.length === 1 ? answerUnavailable : answerOk)(response, request);
  });
  const { upstream } = open([first.url, second.url]);
  const spans = await send(upstream);
  const parent = spans.find(({ name }) => name === "call");
  const attempts = spans.filter(({ name }) => name === "ask things");
  expect(attempts).toMatchObject([
    { kind: "client", parentId: parent?.spanId, failed: true, attributes: { "error.type": "503" } },
    { kind: "client", parentId: parent?.spanId, failed: false, attributes: { "http.request.resend_count": 1 } },
  ]);
  expect(attempts[0]?.attributes).not.toHaveProperty("http.request.resend_count");
  expect(attempts.map(({ attributes }) => attributes["http.response.status_code"])).toEqual([503, 200]);
  const ports = attempts.map(({ attributes }) => attributes["server.port"]);
  expect(new Set(ports)).toEqual(new Set([first.port, second.port]));
  expect(attempts[0]?.attributes).toMatchObject({ "server.address": "127.0.0.1", "tributary.subgraph": "things" });
  expect(told).toEqual(attempts.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`));
});

test("an attempt that breaks has failed, and one that nobody waits for any more has not", async () => {
  const { send } = await setUp();
  const [replica] = await start(1, reset);
  const { upstream } = open([replica.url]);
  await send(upstream, { isIdempotent: false });
  const leaving = new AbortController();
  const asked = silence(replica);
  const sent = send(upstream, { signal: leaving.signal });
  await asked;
  leaving.abort();
  const attempts = (await sent).filter(({ name }) => name === "ask things");
  expect(attempts).toMatchObject([
    { failed: true, attributes: { "error.type": "reset" } },
    { failed: false, attributes: { "tributary.outcome": "aborted" } },
  ]);
});

test("headers by name get the attempt's own, too", async () => {
  const { send } = await setUp();
  const [replica] = await start(1);
  const { upstream } = open([replica.url]);
  let told: unknown;
  replica.answer = (response, request) => {
    told = request.headers["traceparent"];
    answerOk(response, request);
  };
  const spans = await send(upstream, { headers: { accept: "text/plain" } });
  expect(told).toContain(spans.find(({ name }) => name === "ask things")?.spanId ?? "a span");
});
