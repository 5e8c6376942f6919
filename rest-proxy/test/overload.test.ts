import type { AdmissionObserver } from "@tributary/kit/admission/admission";
import { sendAtOnce } from "@tributary/kit/testing/send-at-once";
import { expect, test } from "vitest";
import { bodyOf, noRateLimits, plainCallerConfig, route, startProxy, startStub, statusOf } from "./testing.ts";

// What an overloaded proxy serves. The service runs in this process: each of its responses uses the event loop for 3 ms.

const routes = [
  route("getThing", "GET", "/things/:id", { query: ["limit"] }),
  route("changeThing", "PATCH", "/things/:id", {}),
  route("getUrgent", "GET", "/urgent/:id", { priority: "critical" }),
  route("getCached", "GET", "/cached/:id", { cache: "public" }),
];

function startSlowStub() {
  return startStub(({ url }, response) => {
    const endMs = performance.now() + 3;
    while (performance.now() < endMs);
    if (url.includes("cached")) response.setHeader("Cache-Control", "public, s-maxage=60");
    response.end('{"ok":true}');
  });
}

const repeat = (count: number, request: string, headers = "") =>
  Array.from({ length: count }, () => `${request} HTTP/1.1\r\nHost: a\r\n${headers}Connection: close\r\n\r\n`);

test("an overloaded proxy serves each cache hit, and admits writes and critical reads in a class above other reads", async () => {
  const { observer, counts } = createCountingObserver();
  const options = { routes, admission: true, observers: { admission: observer } };
  const proxy = await startProxy(await startSlowStub(), options);
  await fetch(`${proxy.url}/v1/cached/1`);
  expect(counts).toMatchObject({ normal: { admitted: 1, rejected: 0 } });
  const normal = repeat(600, "GET /v1/things/1");
  const critical = [...repeat(10, "PATCH /v1/things/1"), ...repeat(10, "GET /v1/urgent/1")];
  const cached = [...repeat(10, "GET /v1/cached/1"), ...repeat(10, "GET /v1/cached/1", "Content-Length: 0\r\n")];
  const responses = await sendAtOnce(proxy.port, [...normal, ...critical, ...cached]);
  for (const response of responses.slice(-cached.length)) expect(statusOf(response)).toBe(200);
  const countRejected = (list: readonly string[]) => list.filter((response) => statusOf(response) !== 200).length;
  const normalRejected = countRejected(responses.slice(0, normal.length));
  const criticalRejected = countRejected(responses.slice(normal.length, -cached.length));
  expect(normalRejected).toBeGreaterThan(0);
  expect(counts).toEqual({
    critical: { admitted: critical.length - criticalRejected, rejected: criticalRejected },
    normal: { admitted: 1 + normal.length - normalRejected, rejected: normalRejected },
    background: { admitted: 0, rejected: 0 },
    unread: { admitted: 0, rejected: 0 },
  });
  for (const rejection of responses.filter((response) => statusOf(response) !== 200)) {
    expect(statusOf(rejection)).toBe(503);
    expect(rejection).toContain("Retry-After: 1");
    expect(bodyOf(rejection)).toMatchObject({
      type: "/problems/service-unavailable",
      detail: "The server is overloaded. Retry after 1 s.",
    });
  }
});

/** Counts requests by their class. In which order classes are served is tested in kit/src/admission. */
function createCountingObserver() {
  const newCount = () => ({ admitted: 0, rejected: 0 });
  const counts = { critical: newCount(), normal: newCount(), background: newCount(), unread: newCount() };
  const observer: AdmissionObserver = {
    onAdmitted(priority) {
      counts[priority].admitted++;
    },
    onRejected(priority) {
      counts[priority].rejected++;
    },
    expose() {},
  };
  return { observer, counts };
}

test("the rejection of an overloaded proxy has the headers of every response, so that a page can read it and a log can find it", async () => {
  const corsOrigins = ["https://a.example"];
  const proxy = await startProxy(await startSlowStub(), { routes, admission: true, corsOrigins });
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
  const head = [
    "GET /v1/things/1?limit=1 HTTP/1.1",
    "Host: a",
    "Accept: application/vnd.tributary.v1+json",
    "Origin: https://a.example",
    "X-Request-Id: r-1",
    `traceparent: ${traceparent}`,
    "Connection: close",
  ];
  const request = `${head.join("\r\n")}\r\n\r\n`;
  const responses = await sendAtOnce(
    proxy.port,
    Array.from({ length: 600 }, () => request),
  );
  const rejection = responses.find((response) => statusOf(response) !== 200) ?? "";
  expect(rejection.split("\r\n\r\n")[0]?.split("\r\n")).toEqual([
    "HTTP/1.1 503 Service Unavailable",
    "X-Request-Id: r-1",
    `traceparent: ${traceparent}`,
    "X-Content-Type-Options: nosniff",
    "Access-Control-Allow-Origin: https://a.example",
    expect.stringMatching(/^Access-Control-Expose-Headers: .*retry-after/),
    "API-Version: 1",
    "Vary: Origin, Accept",
    "Content-Type: application/problem+json",
    "Retry-After: 1",
    "Cache-Control: no-store",
    "Content-Length: 137",
    expect.stringMatching(/^Date: /),
    "Connection: close",
  ]);
  expect(bodyOf(rejection)).toEqual({
    type: "/problems/service-unavailable",
    title: "Service unavailable",
    status: 503,
    detail: "The server is overloaded. Retry after 1 s.",
  });
});

test("a page can read the 503 above REQUESTS_IN_FLIGHT_MAX, and its Retry-After", async () => {
  const held: (() => void)[] = [];
  const stub = await startStub((_request, response) => void held.push(() => response.end("{}")));
  const proxy = await startProxy(stub, { routes, requestsInFlightMax: 1, corsOrigins: ["https://a.example"] });
  const first = fetch(`${proxy.url}/v1/things/1`);
  await expect.poll(() => held.length).toBe(1);
  const rejections = ["https://a.example", "https://b.example"].map(async (origin) => {
    const { status, headers } = await fetch(`${proxy.url}/v1/things/2`, { headers: { origin } });
    const exposed = headers.get("access-control-expose-headers")?.split(", ") ?? [];
    return [status, headers.get("access-control-allow-origin"), exposed.includes("retry-after")];
  });
  const outcomes = await Promise.all(rejections);
  for (const respond of held) respond();
  await first;
  expect(outcomes).toEqual([
    [503, "https://a.example", true],
    [503, null, false],
  ]);
});

test("a request that waits for admission is rejected as any other when its client's deadline passes", async () => {
  const proxy = await startProxy(await startSlowStub(), { routes, admission: true });
  const waiting = repeat(150, "PATCH /v1/things/1", "X-Deadline-Ms: 50\r\n");
  const responses = await sendAtOnce(proxy.port, [...repeat(200, "GET /v1/things/1"), ...waiting]);
  const statuses = responses.slice(200).map(statusOf);
  // Those that were admitted in time may have 200 or 504.
  expect(statuses).toContain(503);
});

test("with ADMISSION=false every request is served", async () => {
  const proxy = await startProxy(await startSlowStub(), { routes, admission: false });
  const responses = await sendAtOnce(proxy.port, repeat(150, "GET /v1/things/1"));
  for (const response of responses) expect(statusOf(response)).toBe(200);
});

test.each<[string, readonly string[], number, number]>([
  ["a client that holds most of a service's places is rejected while another one is served", [], 6, 200],
  ["a client with an exempt address can take all places of a service", ["192.0.2.1"], 4, 503],
])("%s", async (_, exempt, rejectedCount, otherStatus) => {
  const held: (() => void)[] = [];
  const stub = await startStub((_request, response) => void held.push(() => response.end('{"ok":true}')));
  const callerConfig = { ...plainCallerConfig, trustedProxies: ["127.0.0.1"] };
  const rateLimitConfig = { ...noRateLimits, exempt };
  const proxy = await startProxy(stub, { routes, inFlightMax: 8, callerConfig, rateLimitConfig });
  let rejections = 0;
  // Equal reads would share a request.
  const read = async (address: string, id: number) => {
    const { status } = await fetch(`${proxy.url}/v1/things/${id}`, { headers: { "X-Forwarded-For": address } });
    if (status === 503) rejections++;
    return status;
  };
  const many = Array.from({ length: 12 }, (_, id) => read("192.0.2.1", id));
  await expect.poll(() => held.length + rejections).toBe(12);
  expect(rejections).toBe(rejectedCount);
  const one = read("192.0.2.2", 12);
  await expect.poll(() => held.length + rejections).toBe(13);
  for (const respond of held) respond();
  expect(await one).toBe(otherStatus);
  await Promise.all(many);
});

test("a client that holds most of a service's places neither ends validations nor refreshes for others", async () => {
  const held: (() => void)[] = [];
  let cachedCount = 0;
  const stub = await startStub(({ url }, response) => {
    if (!url.includes("cached")) return void held.push(() => response.end("{}"));
    cachedCount++;
    response.setHeader("Cache-Control", "public, max-age=60, stale-while-revalidate=600, stale-if-error=600");
    response.end("{}");
  });
  let nowMs = Date.now();
  const callerConfig = { ...plainCallerConfig, trustedProxies: ["127.0.0.1"] };
  const proxy = await startProxy(stub, { routes, inFlightMax: 8, callerConfig, nowMs: () => nowMs });
  const read = async (address: string, path: string, cacheControl = "max-age=600") => {
    const headers = { "X-Forwarded-For": address, "Cache-Control": cacheControl };
    return (await fetch(`${proxy.url}/v1/${path}`, { headers })).status;
  };
  const many = Array.from({ length: 6 }, (_, id) => read("192.0.2.1", `things/${id}`));
  await expect.poll(() => held.length).toBe(6);
  await read("192.0.2.2", "cached/1");
  nowMs += 30_000;
  expect(await read("192.0.2.1", "cached/1", "no-cache")).toBe(200);
  expect(cachedCount).toBe(1);
  expect(await read("192.0.2.2", "cached/1", "no-cache")).toBe(200);
  expect(cachedCount).toBe(2);
  nowMs += 90_000;
  expect(await read("192.0.2.1", "cached/1")).toBe(200);
  await expect.poll(() => cachedCount).toBe(3);
  for (const respond of held) respond();
  await Promise.all(many);
});
