import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { createAdmissionObserver } from "@tributary/kit/admission/admission-telemetry";
import { silentLog } from "@tributary/kit/process/log";
import { metricsOf } from "@tributary/kit/telemetry/metrics/declarations/metrics-of-processes";
import type { Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { noTrace } from "@tributary/kit/telemetry/tracing/trace";
import { countOpen, sendHalf } from "@tributary/kit/testing/half-sent";
import { sendAtOnce } from "@tributary/kit/testing/send-at-once";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { TelemetryObservers } from "../src/telemetry/gateway-telemetry.ts";
import { createGatewayRequestObserver } from "../src/telemetry/request-observer.ts";
import { readGraphqlResponse, type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { type Library, startLibrary } from "./helpers/library.ts";

// What an overloaded gateway serves, and how it rejects the rest. The subgraphs run in this process, so they can block its event loop.

let library: Library;
beforeAll(async () => {
  library = await startLibrary();
});
afterAll(async () => {
  await library.close();
});

const query = "{ people { name } }";
const mutation = 'mutation { rename(id: "1", name: "Augusta") { name } }';

async function startOverloadable(
  environment: Record<string, string> = {},
  observers?: TelemetryObservers,
): Promise<RunningGateway> {
  const gateway = await startGateway({
    supergraphSdl: library.supergraphSdl,
    environment: { ADMISSION: "true", ...environment },
    observers,
  });
  onTestFinished(() => gateway.drain());
  // Operations that are known take the fast path.
  for (const known of [query, mutation]) expect((await gateway.send(known)).body.errors).toBeUndefined();
  return gateway;
}

/** Metrics, and the observers that count requests in them. */
async function createObservers() {
  const metrics = await createPrometheus(metricsOf.gateway);
  const off = { log: silentLog, trace: noTrace, accessLog: "off", knownClients: [], knownOperations: [] } as const;
  const observers = {
    requestObserver: createGatewayRequestObserver({ ...off, metrics }),
    fetchObserver: undefined,
    admissionObserver: createAdmissionObserver({ metrics, endpoint: "graphql" }),
  };
  return { metrics, observers };
}

/** Each response of the subgraph uses the event loop for 3 ms. */
function blockEventLoop(): void {
  library.people.fault = (response) => {
    const endMs = performance.now() + 3;
    while (performance.now() < endMs);
    response.setHeader("Content-Type", "application/json");
    response.end('{"data":{"people":[],"rename":{"name":"Augusta"}}}');
  };
  onTestFinished(() => {
    library.people.fault = undefined;
  });
}

interface OverloadResponse {
  readonly head: string;
  readonly body: {
    readonly data?: unknown;
    readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
  };
}

/** Sends all requests in one iteration of the event loop. */
async function postAtOnce(
  { port }: RunningGateway,
  requests: readonly { readonly query: string; readonly headers?: readonly string[] }[],
): Promise<readonly OverloadResponse[]> {
  const texts = requests.map(({ query: document, headers = [] }) => {
    const content = JSON.stringify({ query: document });
    const head = [
      "POST /graphql HTTP/1.1",
      "Host: a",
      "Content-Type: application/json",
      "Connection: close",
      ...headers,
    ];
    return `${head.join("\r\n")}\r\nContent-Length: ${content.length}\r\n\r\n${content}`;
  });
  const responses = await sendAtOnce(port, texts);
  return responses.map((response) => {
    const [head = "", body = ""] = response.split("\r\n\r\n");
    return { head, body: JSON.parse(body) as OverloadResponse["body"] };
  });
}

const repeat = <T>(count: number, request: T) => Array.from({ length: count }, () => request);

test.each(["true", "false"])(
  "an overloaded gateway serves some queries and rejects the others, fast path: %s",
  async (fastPath) => {
    const gateway = await startOverloadable({ FAST_PATH: fastPath, FETCH_SHARING: "false" });
    blockEventLoop();
    const responses = await postAtOnce(gateway, repeat(600, { query }));
    const rejections = responses.filter(({ body }) => body.errors !== undefined);
    expect(rejections.length).toBeGreaterThan(0);
    expect(rejections.length).toBeLessThan(600);
    for (const { head, body } of rejections) {
      expect(head).toContain("HTTP/1.1 200 OK");
      expect(head).toContain("Retry-After: 1");
      expect(body).toEqual({
        errors: [{ message: "The server is overloaded. Retry after 1 s.", extensions: { code: "OVERLOADED" } }],
      });
    }
  },
);

test("a rejection is 503 for clients that accept application/graphql-response+json", async () => {
  const gateway = await startOverloadable({ FETCH_SHARING: "false" });
  blockEventLoop();
  const headers = ["Accept: application/graphql-response+json"];
  const responses = await postAtOnce(gateway, repeat(600, { query, headers }));
  expect(new Set(responses.map(({ head }) => head.slice(9, 12)))).toEqual(new Set(["200", "503"]));
});

test.each(["true", "false"])(
  "rejections are counted by the status that clients get, fast path: %s",
  async (fastPath) => {
    const { metrics, observers } = await createObservers();
    const gateway = await startOverloadable({ FAST_PATH: fastPath, FETCH_SHARING: "false" }, observers);
    blockEventLoop();
    const headers = ["Accept: application/graphql-response+json"];
    const responses = await postAtOnce(gateway, [...repeat(400, { query }), ...repeat(400, { query, headers })]);
    const rejections = responses.filter(({ body }) => body.errors !== undefined);
    for (const status of ["200", "503"]) {
      const count = rejections.filter(({ head }) => head.startsWith(`HTTP/1.1 ${status} `)).length;
      expect(count).toBeGreaterThan(0);
      await expect
        .poll(() => metrics.write())
        .toContain(`tributary_gateway_rejected_total{code="OVERLOADED",status="${status}"} ${count}\n`);
    }
  },
);

// Which class is served first: kit/src/admission/admission.test.ts, and under load `npm run verify -- overload`.
test.each(["true", "false"])(
  "admitted and rejected requests are counted by their class, fast path: %s",
  async (fastPath) => {
    const { metrics, observers } = await createObservers();
    const gateway = await startOverloadable({ FAST_PATH: fastPath, FETCH_SHARING: "false" }, observers);
    const startCounts = await countByClass(metrics);
    blockEventLoop();
    // A client can lower the class of its own requests.
    const background = { query: mutation, headers: ["Priority: u=7"] };
    const groups = {
      normal: repeat(600, { query }),
      critical: repeat(20, { query: mutation }),
      background: repeat(80, background),
    };
    const responses = await postAtOnce(gateway, Object.values(groups).flat());
    const rejected = responses.map(({ body }) => body.errors !== undefined);
    const countRejected = (from: number, to: number) => rejected.slice(from, to).filter(Boolean).length;
    const expected = {
      normal: countRejected(0, 600),
      critical: countRejected(600, 620),
      background: countRejected(620, 700),
    };
    expect(expected.normal).toBeGreaterThan(0);
    const counts = await countByClass(metrics);
    for (const priority of ["normal", "critical", "background"] as const) {
      expect(counts.rejections(priority) - startCounts.rejections(priority)).toBe(expected[priority]);
      expect(counts.admitted(priority) - startCounts.admitted(priority)).toBe(
        groups[priority].length - expected[priority],
      );
    }
  },
);

async function countByClass(metrics: Pick<Metrics<typeof metricsOf.gateway>, "write">) {
  const exposition = await metrics.write();
  const read = (metric: string) => (priority: string) =>
    Number(
      exposition
        .split(`\ntributary_admission_${metric}{endpoint="graphql",class="${priority}"} `)[1]
        ?.split("\n", 1)[0],
    );
  return { admitted: read("admitted_total"), rejections: read("rejections_total") };
}

test("a mutation that waits for admission is rejected when its client's deadline passes", async () => {
  const gateway = await startOverloadable({ FETCH_SHARING: "false" });
  blockEventLoop();
  const waiting = repeat(60, { query: mutation, headers: ["X-Deadline-Ms: 50"] });
  const responses = (await postAtOnce(gateway, [...repeat(200, { query }), ...waiting])).slice(200);
  expect(responses.map(({ body }) => body.errors?.[0]?.extensions.code)).toContain("OVERLOADED");
});

test("with ADMISSION=false every request is served", async () => {
  const gateway = await startOverloadable({ FETCH_SHARING: "false", ADMISSION: "false" });
  blockEventLoop();
  for (const { body } of await postAtOnce(gateway, repeat(200, { query }))) expect(body.errors).toBeUndefined();
});

test.each([
  ["a client that holds most of a subgraph's places is rejected while another one is served", "none", 6, undefined],
  ["a client with an exempt address can take all places of a subgraph", "192.0.2.1", 4, [expect.anything()]],
])("%s", async (_, exempt, rejectedCount, errors) => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-share-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "gateway.yaml");
  writeFileSync(file, "subgraphs:\n  people:\n    requests_in_flight: 8\n");
  const environment = { SETTINGS_FILE: file, FETCH_SHARING: "false", TRUSTED_PROXIES: "127.0.0.1" };
  const limits = { RATE_LIMIT_READS_PER_MINUTE: "0", RATE_LIMIT_EXEMPT: exempt };
  const gateway = await startOverloadable({ ...environment, ...limits });
  const held: (() => void)[] = [];
  library.people.fault = (response) => {
    response.setHeader("Content-Type", "application/json");
    held.push(() => response.end('{"data":{"people":[]}}'));
  };
  onTestFinished(() => {
    library.people.fault = undefined;
  });
  let rejections = 0;
  const send = async (address: string) => {
    const { body } = await gateway.send(query, { headers: { "x-forwarded-for": address } });
    if (body.errors !== undefined) rejections++;
    return body.errors;
  };
  const many = Array.from({ length: 12 }, () => send("192.0.2.1"));
  await expect.poll(() => held.length + rejections).toBe(12);
  expect(rejections).toBe(rejectedCount);
  const one = send("192.0.2.2");
  await expect.poll(() => held.length + rejections).toBe(13);
  for (const respond of held) respond();
  expect(await one).toEqual(errors);
  await Promise.all(many);
});

test("a page can read the 503 above REQUESTS_IN_FLIGHT_MAX, and its Retry-After", async () => {
  const gateway = await startOverloadable({ REQUESTS_IN_FLIGHT_MAX: "1", CORS_ORIGINS: "https://a.example" });
  const held: (() => void)[] = [];
  library.people.fault = (response) => void held.push(() => response.end('{"data":{"people":[]}}'));
  onTestFinished(() => {
    library.people.fault = undefined;
  });
  const first = gateway.send(query);
  await expect.poll(() => held.length).toBe(1);
  const rejections = ["https://a.example", "https://b.example"].map(async (origin) => {
    const { status, headers } = await gateway.send(query, { headers: { origin } });
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

const postHead = "POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";

test("bodies above GRAPHQL_BODIES_BYTES_MAX: the address with most gets a 408, and others are received", async () => {
  const gateway = await startOverloadable({ GRAPHQL_BODIES_BYTES_MAX: "100000" });
  const hold = (from: string, length: number) => {
    const bytes = `${postHead}Content-Length: 90000\r\n\r\n${" ".repeat(length)}`;
    return sendHalf({ port: gateway.port, from, count: 1, bytes });
  };
  const [most] = await hold("127.0.0.2", 60_000);
  const [less] = await hold("127.0.0.3", 50_000);
  if (!most || !less) throw new Error("No connection was opened.");
  expect(await text(most)).toMatch(/^HTTP\/1\.1 408 [^]*Connection: close[^]*"code":"REQUEST_TIMEOUT"/);
  expect(gateway.observations).toContainEqual({ kind: "connection-closed", reason: "incomplete-bytes" });
  const large = { headers: { "content-type": "application/json" }, method: "POST", body: " ".repeat(45_000) };
  expect((await fetch(`${gateway.url}/graphql`, large)).status).toBe(400);
  expect(countOpen([less])).toBe(1);
});

test("half-sent requests of one address take nothing from other clients", async () => {
  const gateway = await startOverloadable({ REQUESTS_IN_FLIGHT_MAX: "50" });
  const { port } = gateway;
  // Each would be a megabyte decompressed, so 64 of them would fill GRAPHQL_BODIES_BYTES_MAX.
  const bomb = gzipSync(JSON.stringify({ query, variables: { padding: "x".repeat(1_000_000) } }));
  const bombHead = `${postHead}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`;
  const halfBomb = Buffer.concat([Buffer.from(bombHead), bomb.subarray(0, -9)]);
  const bombs = await sendHalf({ port, from: "127.0.0.2", count: 100, bytes: halfBomb });
  const bytes = `${postHead}Content-Length: 20\r\n\r\n{`;
  const held = [...bombs, ...(await sendHalf({ port, from: "127.0.0.2", count: 2_000, bytes }))];
  await expect.poll(() => countOpen(held)).toBe(2_048);
  for (const document of [query, mutation]) expect((await gateway.send(document)).body.errors).toBeUndefined();
  const compressed = { "content-type": "application/json", "content-encoding": "gzip" };
  const body = new Uint8Array(gzipSync(JSON.stringify({ query })));
  const response = await fetch(`${gateway.url}/graphql`, { method: "POST", headers: compressed, body });
  expect((await readGraphqlResponse(response)).body.errors).toBeUndefined();
});

test("one address has at most 1,000 connections, also of those that send no whole head", async () => {
  const gateway = await startOverloadable({ RATE_LIMIT_EXEMPT: "none" });
  const held = await sendHalf({ port: gateway.port, from: "127.0.0.2", count: 1_010, bytes: "POST /graphql HT" });
  await expect.poll(() => countOpen(held)).toBe(1_000);
  expect(gateway.observations).toContainEqual({ kind: "connection-closed", reason: "connections-of-address" });
  expect((await gateway.send(query)).body.errors).toBeUndefined();
});

test("queries that wait for a slow subgraph are no overload", async () => {
  const gateway = await startOverloadable({ FETCH_SHARING: "false" });
  const pending: (() => void)[] = [];
  library.people.fault = (response) => void pending.push(() => response.end('{"data":{"people":[]}}'));
  onTestFinished(() => {
    library.people.fault = undefined;
  });
  const sent: ReturnType<typeof gateway.send>[] = [];
  while (sent.length < 300) {
    // No more than may wait without being a queue: on a busy machine 300 at once are an overload.
    for (let i = 0; i < 20; i++) sent.push(gateway.send(query));
    await expect.poll(() => pending.length, { interval: 10 }).toBe(sent.length);
  }
  for (const respond of pending) respond();
  for (const { body } of await Promise.all(sent)) expect(body.errors?.[0].extensions.code).not.toBe("OVERLOADED");
});
