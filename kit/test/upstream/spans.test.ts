import { expect, test } from "vitest";
import { createSpanCollector } from "../../src/testing/trace.ts";
import type { UpstreamRequest } from "../../src/upstream/upstream.ts";
import { type BufferedUpstream, open, read } from "./requests.ts";
import { holdResponse, reset, respondOk, respondUnavailable, start } from "./replica.ts";

async function setUp() {
  const collector = createSpanCollector();
  const trace = await collector.createTrace("caller");
  async function send(upstream: BufferedUpstream, more: Partial<UpstreamRequest> = {}) {
    const parent = trace.begin("call", undefined);
    if (!parent) throw new Error("each request is traced");
    const traced = { parent, name: "send to things", attributes: { "tributary.subgraph": "things" } };
    await upstream.send({ ...read, ...more, traced });
    parent.end();
    return collector.spans();
  }
  return { send };
}

test("each attempt is a child span with its replica and result, and is the parent of the replica's span", async () => {
  const { send } = await setUp();
  const traceParents: unknown[] = [];
  const [first, second] = await start(2, (response, request) => {
    traceParents.push(request.headers["traceparent"]);
    // The first replica fails.
    (traceParents.length === 1 ? respondUnavailable : respondOk)(response, request);
  });
  const { upstream } = open([first.url, second.url]);
  const spans = await send(upstream);
  const parent = spans.find(({ name }) => name === "call");
  const attempts = spans.filter(({ name }) => name === "send to things");
  expect(attempts).toMatchObject([
    { kind: "client", parentId: parent?.spanId, failed: true, attributes: { "error.type": "503" } },
    { kind: "client", parentId: parent?.spanId, failed: false, attributes: { "http.request.resend_count": 1 } },
  ]);
  expect(attempts[0]?.attributes).not.toHaveProperty("http.request.resend_count");
  expect(attempts.map(({ attributes }) => attributes["http.response.status_code"])).toEqual([503, 200]);
  const ports = attempts.map(({ attributes }) => attributes["server.port"]);
  expect(new Set(ports)).toEqual(new Set([first.port, second.port]));
  expect(attempts[0]?.attributes).toMatchObject({ "server.address": "127.0.0.1", "tributary.subgraph": "things" });
  expect(traceParents).toEqual(attempts.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`));
});

test("the span of a broken attempt is failed, that of an aborted one is not", async () => {
  const { send } = await setUp();
  const [replica] = await start(1, reset);
  const { upstream } = open([replica.url]);
  await send(upstream, { isIdempotent: false });
  const caller = new AbortController();
  const arrived = holdResponse(replica);
  const sent = send(upstream, { signal: caller.signal });
  await arrived;
  caller.abort();
  const attempts = (await sent).filter(({ name }) => name === "send to things");
  expect(attempts).toMatchObject([
    { failed: true, attributes: { "error.type": "reset" } },
    { failed: false, attributes: { "tributary.outcome": "aborted" } },
  ]);
});
