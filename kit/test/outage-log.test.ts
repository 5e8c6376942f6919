import { AsyncLocalStorage } from "node:async_hooks";
import { noDatabase } from "../src/testing/database.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AppError } from "../src/errors/app-error.ts";
import { createLog, type Log, silentLog } from "../src/process/log.ts";
import type { RouteDeclaration } from "../src/rest/routes.ts";
import { createServiceApp, type ServiceApp } from "../src/service/service.ts";
import { type AccessLog, createAccessLog } from "../src/telemetry/access-log.ts";
import { createFailureLog, type FailureKind } from "../src/telemetry/failure-log.ts";
import { createNoMetrics } from "../src/telemetry/metrics/metrics.ts";
import { createRequestRecords, recordFields } from "../src/telemetry/request-record.ts";
import { createServiceObserver } from "../src/telemetry/service-observer.ts";
import { noTrace, type Span } from "../src/telemetry/tracing/trace.ts";

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

describe("the log of a service during an outage", () => {
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

  test("of the failed requests of each route, status and code, the first has an access log line, and the others are counted", async () => {
    await getRest("first");
    for (let i = 0; i < 100; i++) await Promise.all([getRest(`rest-${i}`), postGraphql(`graphql-${i}`)]);
    vi.advanceTimersByTime(10_000);
    await getRest("last");
    await app.stop();
    const kinds = [
      { route: "/v1/things/:id", status: 503, code: "SERVICE_UNAVAILABLE" },
      { route: "query late", status: 200, code: "SERVICE_UNAVAILABLE" },
    ];
    const completed = lines.filter(({ msg }) => msg === "request completed");
    expect(completed).toMatchObject(kinds);
    expect(completed[0]).toMatchObject({ level: "info", requestId: "first" });
    const observation = "failed-requests-counted";
    expect(lines.filter((line) => line["observation"] === observation)).toMatchObject([
      { ...kinds[0], count: 100 },
      { ...kinds[1], count: 99 },
      { ...kinds[0], count: 1 },
    ]);
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

  test("a bug that fails many entities and fields of a request is one line for each field, with the number of errors", async () => {
    const bug = new TypeError("a failed statement");
    // As of a loader, whose one statement fails all entities.
    failure = () => bug;
    const representations = Array.from({ length: 100 }, (_, i) => `{ __typename: "Thing", id: "${i}" }`).join(" ");
    const query = `{ _entities(representations: [${representations}]) { ... on Thing { maker } } a: late b: late }`;
    for (const requestId of ["first", "second"]) await postGraphql(requestId, query);
    const errors = lines.filter(({ level }) => level === "error");
    expect(errors.map((line) => [line["requestId"], line["field"], line["fieldCount"]])).toEqual([
      ["first", "late", 2],
      ["first", "_entities", 100],
      ["second", "late", 2],
      ["second", "_entities", 100],
    ]);
  });
});

type Kind = FailureKind & { readonly route: string };

describe("the access log", () => {
  const fail = (log: AccessLog<Kind>, route: string, span?: Span) => log.write(span, { route }, { requestId: "r-1" });

  test("a traced request and, with ACCESS_LOG=all, each request has its line and is not counted", () => {
    const { log, lines } = openLog();
    const sampled = createAccessLog<Kind>(log, "sampled", "route");
    const all = createAccessLog<Kind>(log, "all", "route");
    for (let i = 0; i < 100; i++) {
      fail(sampled, "/things", {} as Span);
      fail(all, "/things");
    }
    sampled.close();
    all.close();
    expect(lines).toHaveLength(200);
  });

  test("failures of ever new routes are 101 lines, and the others are counted", () => {
    const { log, lines } = openLog();
    const accessLog = createAccessLog<Kind>(log, "sampled", "route");
    for (let i = 0; i < 1_000; i++) fail(accessLog, `/things/${i}`);
    accessLog.close();
    expect(lines).toHaveLength(102);
    expect(lines.at(-1)).toMatchObject({ route: "other", count: 899 });
  });
});

describe("a failure log", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("five minutes of failures at 4 per second are one full line and a count every 10 s, without stacks", () => {
    const { lines, fail } = openFailureLog();
    for (let i = 0; i < 1_200; i++) {
      fail();
      vi.advanceTimersByTime(250);
    }
    expect(lines).toHaveLength(31);
    expect(lines.filter((line) => "err" in line)).toHaveLength(1);
    const about = { level: "warn", service: "users", replica: "http://users:4001/ (10.0.0.7)" };
    expect(lines[0]).toMatchObject({ ...about, reason: "SUBGRAPH_UNAVAILABLE", requestId: "r-1" });
    expect(lines[1]).toEqual({ ...about, observation: "failures-counted", reason: "SUBGRAPH_UNAVAILABLE", count: 39 });
    expect(lines.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(1_200);
  });

  test("each replica and each reason has a first line and counts of its own", () => {
    const { lines, fail } = openFailureLog();
    for (const replica of ["a", "b"])
      for (const reason of ["refused", "timeout"]) for (let i = 0; i < 3; i++) fail(replica, reason);
    expect(lines).toHaveLength(4);
    vi.advanceTimersByTime(10_000);
    expect(lines.slice(4).map(({ replica, reason, count }) => [replica, reason, count])).toEqual([
      ["a", "refused", 2],
      ["a", "timeout", 2],
      ["b", "refused", 2],
      ["b", "timeout", 2],
    ]);
  });

  test("a service that has not failed for 30 s has one line with the duration and the number of failures", () => {
    const { lines, fail } = openFailureLog();
    fail();
    vi.advanceTimersByTime(4_000);
    fail();
    vi.advanceTimersByTime(100_000);
    expect(lines.slice(2)).toEqual([
      { level: "info", observation: "failures-ended", service: "users", count: 2, durationMs: 4_000 },
    ]);
    expect(vi.getTimerCount()).toBe(0);
    fail();
    expect(lines.at(-1)).toMatchObject({ requestId: "r-1" });
  });

  test("replicas with ever new addresses are not more than 100 lines", () => {
    const { lines, fail } = openFailureLog();
    for (let i = 0; i < 1_000; i++) fail(`10.0.${i}.1`);
    expect(lines.length).toBeLessThanOrEqual(101);
    vi.advanceTimersByTime(10_000);
    expect(lines.at(-1)).toMatchObject({ replica: "other", count: 899 });
  });

  test("a replica that fails now and then does not keep the groups of an earlier outage", () => {
    const { lines, fail } = openFailureLog();
    for (let i = 0; i < 100; i++) fail(`10.0.${i}.1`);
    for (let i = 0; i < 4; i++) {
      vi.advanceTimersByTime(25_000);
      fail("10.0.0.1");
    }
    for (const replica of ["10.1.0.1", "10.1.1.1"]) {
      fail(replica);
      expect(lines.at(-1)).toMatchObject({ replica, requestId: "r-1" });
    }
    expect(lines.filter(({ observation }) => observation === "failures-ended")).toEqual([]);
    vi.advanceTimersByTime(40_000);
    expect(lines.at(-1)).toMatchObject({ observation: "failures-ended", count: 106, durationMs: 100_000 });
  });

  test("a failure after close is logged whole, and starts no timer", () => {
    const { lines, failures, fail } = openFailureLog();
    fail();
    failures.close();
    fail();
    fail();
    expect(lines.map(({ requestId }) => requestId)).toEqual(["r-1", "r-1", "r-1"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("counts that are not logged yet are logged when it is closed", () => {
    const { lines, failures, fail } = openFailureLog();
    fail();
    fail();
    failures.close();
    expect(lines.at(-1)).toMatchObject({ observation: "failures-counted", count: 1 });
    expect(vi.getTimerCount()).toBe(0);
  });
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
    {
      ...{ name: "things", profile: "production", authenticate: async () => ({ kind: "anonymous" }) },
      ...{ database: noDatabase, log, observer },
    },
    {
      schema: new URL("things.graphql", import.meta.url),
      resolvers: { Query: { late: fail }, Thing: { __resolveReference: fail } },
      createContext: () => ({}),
      routes,
      caching: { freshSeconds: 10, staleIfErrorSeconds: 60, fieldGroups: {}, groupsOfChange: () => undefined },
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

function openLog() {
  const lines: (Line & { readonly count?: number })[] = [];
  const write = (level: string) => (fields: object) => void lines.push({ level, ...fields });
  const log: Log = { ...silentLog, warn: write("warn"), info: write("info") };
  return { lines, log };
}

function openFailureLog() {
  const { lines, log } = openLog();
  const failures = createFailureLog(log);
  const fail = (replica = "http://users:4001/ (10.0.0.7)", reason = "SUBGRAPH_UNAVAILABLE") =>
    failures.report(
      { service: "users", replica, reason },
      { requestId: "r-1", err: new Error("refused") },
      "it failed",
    );
  return { lines, failures, fail };
}
