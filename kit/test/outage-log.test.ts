import { AsyncLocalStorage } from "node:async_hooks";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Writable } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AppError } from "../src/errors/app-error.ts";
import { createLog } from "../src/process/log.ts";
import type { RouteDeclaration } from "../src/rest/routes.ts";
import { createServiceApp, type ServiceApp } from "../src/service/service.ts";
import { createNoMetrics } from "../src/telemetry/metrics/metrics.ts";
import { createRequestRecords, recordFields } from "../src/telemetry/request-record.ts";
import { createServiceObserver } from "../src/telemetry/service-observer.ts";
import { noTrace } from "../src/telemetry/tracing/trace.ts";

const routes = [
  { id: "one", method: "GET", path: "/things/:id", versions: [1], cache: "public", summary: "One thing" },
] as const satisfies readonly RouteDeclaration[];

type Line = Readonly<Record<string, unknown>>;

const databaseDown = () =>
  new AppError("SERVICE_UNAVAILABLE", "Later.", { cause: new Error("connection refused"), dependency: "database" });
const lines: Line[] = [];
let failure: () => Error;
let app: ServiceApp;
let url: string;
let stopServer: () => void;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  // Real timers keep the async context of their start, fake ones do not.
  const setFakeInterval = globalThis.setInterval;
  vi.stubGlobal("setInterval", (callback: () => void, ms: number) =>
    setFakeInterval(AsyncLocalStorage.bind(callback), ms),
  );
  lines.length = 0;
  failure = databaseDown;
  app = await createApp();
  const server = createServer(app.handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  stopServer = () => void server.close();
});
afterEach(async () => {
  await app.stop();
  stopServer();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("a database outage is one full log line, then counts, for both endpoints together", async () => {
  for (let i = 0; i < 20; i++) await Promise.all([getRest(`rest-${i}`), postGraphql(`graphql-${i}`)]);
  const about = { level: "warn", service: "database", reason: "SERVICE_UNAVAILABLE" };
  expect(warnings()).toEqual([expect.objectContaining({ ...about, requestId: expect.stringMatching(/-0$/) })]);
  expect(JSON.stringify(warnings())).toContain("connection refused");
  vi.advanceTimersByTime(10_000);
  expect(warnings().slice(1)).toEqual([
    expect.objectContaining({ ...about, observation: "failures-counted", count: 39 }),
  ]);
  // The count belongs to no request, although a request started the timer.
  expect(warnings()[1]).not.toHaveProperty("requestId");
});

test("each failed request has an access log line with its request id and code by default", async () => {
  await getRest("first");
  await postGraphql("second");
  await getRest("third");
  await vi.waitFor(() => expect(lines.filter(({ msg }) => msg === "request completed")).toHaveLength(3));
  const line = { level: "info", code: "SERVICE_UNAVAILABLE" };
  for (const [requestId, status] of [
    ["first", 503],
    ["second", 200],
    ["third", 503],
  ])
    expect(lines).toContainEqual(expect.objectContaining({ ...line, requestId, status }));
});

test("a failure of several fields of one request counts once", async () => {
  await postGraphql("several", "{ a: late b: late c: late }");
  expect(warnings()).toEqual([expect.objectContaining({ requestId: "several", fieldCount: 3 })]);
  vi.advanceTimersByTime(10_000);
  expect(warnings()).toHaveLength(1);
});

test("failures without a dependency are the service's own, and hide no outage of the database", async () => {
  failure = () => new AppError("SERVICE_UNAVAILABLE", "The deadline has passed.");
  await getRest("deadline");
  failure = databaseDown;
  await getRest("outage");
  expect(warnings().map(({ service }) => service)).toEqual(["things", "database"]);
});

test("a bug is logged in full each time", async () => {
  failure = () => new TypeError("a bug of the service");
  for (let i = 0; i < 3; i++) await Promise.all([getRest(`rest-${i}`), postGraphql(`graphql-${i}`)]);
  const errors = lines.filter(({ level }) => level === "error");
  expect(errors).toHaveLength(6);
  for (const line of errors) expect(line["err"]).toMatchObject({ type: "TypeError" });
  expect(errors.filter(({ field }) => field === "late")).toHaveLength(3);
});

function createApp(): Promise<ServiceApp> {
  const records = createRequestRecords();
  const destination = new Writable({
    write: (chunk, _, done) => (lines.push(JSON.parse(String(chunk)) as Line), done()),
  });
  const log = createLog({
    name: "things",
    level: "info",
    destination,
    context: () => recordFields(records.current()),
  });
  const observer = createServiceObserver({
    log,
    records,
    metrics: createNoMetrics(),
    trace: noTrace,
    accessLog: "sampled",
  });
  const fail = () => Promise.reject(failure());
  return createServiceApp(
    { name: "things", authenticate: async () => ({ kind: "anonymous" }), log, observer },
    {
      schema: new URL("things.graphql", import.meta.url),
      resolvers: { Query: { late: fail } },
      createContext: () => ({}),
      routes,
      handlers: { 1: { one: fail } },
    },
  );
}

function warnings(): readonly Line[] {
  return lines.filter(({ level }) => level === "warn");
}

function getRest(requestId: string): Promise<Response> {
  return fetch(`${url}/rest/v1/things/1`, { headers: { "x-request-id": requestId } });
}

function postGraphql(requestId: string, query = "{ late }"): Promise<Response> {
  return fetch(`${url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-request-id": requestId },
    body: JSON.stringify({ query }),
  });
}
