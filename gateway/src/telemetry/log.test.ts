import { createPathRedactor } from "../engine/run/redact-path.ts";
import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log } from "@tributary/kit/process/log";
import { createFailureLog } from "@tributary/kit/telemetry/failure-log";
import { metricsOf } from "@tributary/kit/telemetry/metrics/declarations/metrics-of-processes";
import { type Metrics, createNoMetrics } from "@tributary/kit/telemetry/metrics/metrics";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { noTrace } from "@tributary/kit/telemetry/tracing/trace";
import { buildSchema, Kind, type OperationDefinitionNode } from "graphql";
import { describe, expect, test } from "vitest";
import type { GatewayObservation } from "../observations.ts";
import { createLibraryLogger, createObservationLog } from "./observation-log.ts";
import { createGatewayRequestObserver } from "./request-observer.ts";
import type { GraphqlRequestRecord } from "./request-record.ts";

describe("the log of observations", () => {
  function setUp() {
    const lines: unknown[][] = [];
    const say =
      (level: string) =>
      (...args: unknown[]) =>
        void lines.push([level, ...args]);
    const log = { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error"), fatal: say("fatal") };
    const failures = createFailureLog(log as never);
    return { lines, observe: createObservationLog(log as never, failures), close: () => failures.close() };
  }

  test("an observation becomes one line with its fields and a message", () => {
    const { lines, observe } = setUp();
    observe({ kind: "supergraph-loaded", id: "a", subgraphs: ["users"], tookMs: 3 });
    expect(lines).toEqual([
      [
        "info",
        { observation: "supergraph-loaded", id: "a", subgraphs: ["users"], tookMs: 3 },
        "serving a new supergraph",
      ],
    ]);
  });

  test("a cause is logged as an error with its stack", () => {
    const { lines, observe } = setUp();
    const cause = new Error("at db.internal");
    const operation = { operationName: "Feed", documentHash: "4f1a" };
    const replica = "http://users:4001/ (10.0.0.7)";
    const about = {
      requestId: "r",
      traceId: "0af7",
      ...operation,
      service: "users",
      replica,
      code: "SUBGRAPH_TIMEOUT",
    };
    observe({ kind: "subgraph-fetch-failed", ...about, cause });
    observe({ kind: "internal-error", cause: "thrown text" });
    expect(lines[0]).toMatchObject([
      "warn",
      {
        requestId: "r",
        trace_id: "0af7",
        ...operation,
        service: "users",
        replica,
        code: "SUBGRAPH_TIMEOUT",
        err: cause,
      },
      expect.any(String),
    ]);
    expect(lines[1]).toMatchObject(["error", { err: new Error("thrown text") }, expect.any(String)]);
  });

  test("a fetch that fails again for the same reason is not logged again", () => {
    const { lines, observe } = setUp();
    const about = { requestId: "r", traceId: "t", service: "users", replica: "a", code: "SUBGRAPH_TIMEOUT" } as const;
    for (let i = 0; i < 100; i++) observe({ kind: "subgraph-fetch-failed", ...about, cause: new Error("late") });
    for (let i = 0; i < 100; i++)
      observe({ kind: "dns-lookup-failed", service: "users", host: "users", cause: new Error() });
    expect(lines.map(([, fields]) => (fields as GatewayObservation).kind ?? fields)).toMatchObject([
      { observation: "subgraph-fetch-failed", reason: "SUBGRAPH_TIMEOUT" },
      { observation: "dns-lookup-failed", replica: "users" },
    ]);
  });

  test("responses that do not fit the schema are one line for each subgraph and reason, then counted", () => {
    const { lines, observe } = setUp();
    const about = { requestId: "r", traceId: "t", service: "users" } as const;
    const problems = [{ path: "user.name", code: "INVALID_FIELD_VALUE" }];
    for (let i = 0; i < 100; i++) {
      observe({ kind: "subgraph-response-invalid", ...about, replica: "a", count: 1, paths: ["_entities.0"] });
      observe({ kind: "values-rejected", ...about, code: "INVALID_FIELD_VALUE", problems });
    }
    expect(lines.map(([level, fields]) => [level, fields])).toEqual([
      [
        "warn",
        expect.objectContaining({ observation: "subgraph-response-invalid", replica: "a", reason: "RESPONSE_INVALID" }),
      ],
      ["warn", expect.objectContaining({ service: "users", reason: "INVALID_FIELD_VALUE", trace_id: "t", problems })],
    ]);
  });

  test("operations that cannot be planned are one line for each reason, then counted", () => {
    const { lines, observe, close } = setUp();
    for (let i = 0; i < 50; i++)
      for (const reason of ["deadline", "bug"] as const)
        observe({ kind: "plan-failed", reason, operationHash: `${i}`, cause: new Error("failed") });
    close();
    expect(lines.map(([level, fields]) => [level, fields])).toMatchObject([
      ...["deadline", "bug"].map((reason) => ["warn", { observation: "plan-failed", reason, operationHash: "0" }]),
      ...["deadline", "bug"].map((reason) => ["warn", { observation: "failures-counted", reason, count: 49 }]),
    ]);
  });

  test("errors of a failing subgraph are counted, and errors meant for the client are not warnings", () => {
    const { lines, observe } = setUp();
    const about = { requestId: "r", traceId: "t", service: "users", replica: "a", count: 1, errors: [] } as const;
    for (let i = 0; i < 100; i++) observe({ kind: "subgraph-errors", ...about, code: "SUBGRAPH_UNAVAILABLE" });
    observe({ kind: "subgraph-errors", ...about, code: "SUBGRAPH_ERROR" });
    observe({ kind: "subgraph-errors", ...about, code: undefined });
    expect(lines.map(([level, fields]) => [level, (fields as { reason?: string }).reason])).toEqual([
      ["warn", "SUBGRAPH_UNAVAILABLE"],
      ["warn", "SUBGRAPH_ERROR"],
      ["debug", undefined],
    ]);
  });

  test("a line of a library keeps its level, except info, which becomes debug", () => {
    const { lines, observe } = setUp();
    const library = createLibraryLogger(observe);
    library.info("Gateway successfully loaded schema.");
    library.warn("careful");
    library.error(new Error("broken"));
    expect(lines.map(([level]) => level)).toEqual(["debug", "warn", "error"]);
    expect(lines[2]?.[1]).toContain("Error: broken");
  });
});

describe("metrics and the access log of requests", () => {
  type SentRequest = Partial<
    Pick<GraphqlRequestRecord, "path" | "requestedName" | "outcome" | "codes" | "traceId" | "failures">
  > & {
    readonly client?: string;
    readonly status?: number;
    /** Of a validated operation. */
    readonly operationName?: string;
    readonly deadlineMs?: string;
    /** Since the request has arrived. */
    readonly milliseconds?: number;
  };

  async function setUp(accessLog: "all" | "sampled" | "off" = "off", given?: Metrics<typeof metricsOf.gateway>) {
    const lines: unknown[] = [];
    const log = { info: (fields: unknown) => lines.push(fields) } as unknown as Log;
    const metrics = given ?? (await createPrometheus(metricsOf.gateway));
    const known = { knownClients: ["shop"], knownOperations: ["Feed"] };
    const observer = createGatewayRequestObserver({ log, metrics, trace: noTrace, accessLog, ...known });
    const send = ({ client, status = 200, operationName, ...o }: SentRequest) => {
      const { deadlineMs, milliseconds = 0, ...recorded } = o;
      const headers = { "apollographql-client-name": client, "x-deadline-ms": deadlineMs };
      const response = Object.assign(new EventEmitter(), { statusCode: status, writableFinished: true });
      const request = { method: "POST", headers } as unknown as IncomingMessage;
      const arrivedMs = performance.now() - milliseconds;
      const record = observer?.begin(request, response as unknown as ServerResponse, "r-1", arrivedMs);
      const validated = operationName === undefined ? undefined : validate(operationName);
      Object.assign(record ?? {}, { path: "fast", outcome: "ok", validated, ...recorded });
      response.emit("close");
    };
    return { send, lines, write: () => metrics.write(), close: () => observer?.close() };
  }

  function validate(name: string): GraphqlRequestRecord["validated"] {
    const operation = { kind: Kind.OPERATION_DEFINITION, name: { value: name }, operation: "query" };
    return { operation: operation as OperationDefinitionNode, identity: { operationName: name, documentHash: "4f1a" } };
  }

  test("a thousand operation and client names make no more series than one", async () => {
    const { send, write } = await setUp();
    send({ client: "x", operationName: "x" });
    const seriesOf = async () =>
      (await write()).split("\n").filter((line) => line.startsWith("tributary_gateway")).length;
    const before = await seriesOf();
    for (let i = 0; i < 1_000; i++) send({ client: `client-${i}`, operationName: `Operation${i}` });
    expect(await seriesOf()).toBe(before);
    expect(await write()).toContain('tributary_gateway_operations_total{operation="other",outcome="ok"} 1001');
  });

  test("codes of subgraphs have their own label value, up to a limit", async () => {
    const { send, write } = await setUp();
    for (let i = 0; i < 1_000; i++) send({ outcome: "partial", codes: [`CODE_${i}`, "SUBGRAPH_ERROR"] });
    const text = await write();
    expect(text.match(/tributary_gateway_errors_total\{code="CODE_\d+"\} 1/g)).toHaveLength(100);
    expect(text).toContain('tributary_gateway_errors_total{code="other"} 900');
    expect(text).toContain('tributary_gateway_errors_total{code="SUBGRAPH_ERROR"} 1000');
  });

  test("known operations and clients have their own label value, and unnamed ones too", async () => {
    const { send, write } = await setUp();
    send({ client: "shop", operationName: "Feed" });
    send({});
    const text = await write();
    for (const name of ["Feed", "unnamed"])
      expect(text).toContain(`tributary_gateway_operations_total{operation="${name}",outcome="ok"} 1`);
    for (const client of ["shop", "unnamed"])
      expect(text).toContain(`tributary_gateway_requests_total{path="fast",client="${client}",status="200"} 1`);
  });

  test("a client that has used all labels loses one to an operation that runs more often, with its series", async () => {
    const { send, write } = await setUp();
    // `Feed` is configured: 99 labels remain, and `other`.
    for (let i = 0; i < 99; i++) for (let times = 0; times < 101; times++) send({ operationName: `Flood${i}` });
    const labelsOf = (text: string) => new Set([...text.matchAll(/operation="(\w+)"/g)].map(([, name]) => name));
    expect(labelsOf(await write()).size).toBe(100);
    for (let times = 0; times < 300; times++) send({ operationName: "Cart" });
    const labels = labelsOf(await write());
    expect([labels.size, labels.has("Cart"), labels.has("Flood0")]).toEqual([100, true, false]);
  });

  test("an operation has its own label value after 100 validated requests", async () => {
    const { send, write } = await setUp();
    for (let i = 0; i < 100; i++) send({ operationName: "Cart" });
    for (let i = 0; i < 200; i++) send({ operationName: "Rejected", outcome: "rejected", codes: ["BAD_USER_INPUT"] });
    for (let i = 0; i < 200; i++)
      send({ requestedName: "Invalid", outcome: "rejected", codes: ["GRAPHQL_PARSE_FAILED"] });
    send({ operationName: "Cart" });
    send({ operationName: "Rejected" });
    const text = await write();
    const labels = [...text.matchAll(/^tributary_gateway_operations_total\{operation="(\w+)",outcome="ok"\} (\d+)$/gm)];
    expect(labels.map(([, name, value]) => [name, value])).toEqual([
      ["other", "101"],
      ["Cart", "1"],
    ]);
  });

  test("a line of the access log contains the validated operation and its document hash", async () => {
    const { send, lines } = await setUp("all");
    send({ operationName: "Cart" });
    expect(lines).toMatchObject([{ operation: "other", operationName: "Cart", documentHash: "4f1a" }]);
  });

  test("a rejection is counted by its code and status, and for URLs other than /graphql nothing else is counted", async () => {
    const { send, write } = await setUp();
    send({ path: undefined, outcome: "rejected", codes: ["NOT_FOUND"], status: 404 });
    const text = await write();
    expect(text).toContain('tributary_gateway_rejected_total{code="NOT_FOUND",status="404"} 1');
    expect(text).not.toContain("tributary_gateway_requests_total{");
  });

  test("the sampled access log contains failures of the platform, and no errors of the client", async () => {
    const { send, lines } = await setUp("sampled");
    send({});
    send({ outcome: "rejected", codes: ["GRAPHQL_VALIDATION_FAILED"] });
    send({ outcome: "rejected", codes: ["GRAPHQL_VALIDATION_FAILED"], status: 422 });
    send({ outcome: "partial", codes: ["FORBIDDEN"] });
    send({ outcome: "partial", codes: ["FORBIDDEN"], status: 294 });
    send({ outcome: "partial", codes: ["SUBGRAPH_TIMEOUT"], requestedName: "secret" });
    send({ outcome: "partial", codes: ["DEADLINE_EXCEEDED"], requestedName: "secret" });
    const logged = { requestId: "r-1", outcome: "partial", operation: "other", status: 200 };
    expect(lines).toMatchObject([logged, logged]);
    expect(JSON.stringify(lines)).not.toContain("secret");
  });

  test.each([
    ["no line for what ends at the client's own deadline", "DEADLINE_EXCEEDED", "200", 200, 0],
    ["no line for a fetch that ends at it", "SUBGRAPH_TIMEOUT", "200", 200, 0],
    ["a line for what is late before it", "SUBGRAPH_TIMEOUT", "2000", 200, 1],
    ["a line for another failure at it", "SUBGRAPH_UNAVAILABLE", "200", 200, 1],
  ])("the sampled access log has %s", async (_, code, deadlineMs, milliseconds, count) => {
    const { send, lines } = await setUp("sampled");
    send({ outcome: "partial", codes: [code], deadlineMs, milliseconds });
    expect(lines).toHaveLength(count);
  });

  test("of a thousand failed requests the first of each service, operation, status and code is logged, the others are counted", async () => {
    const { send, lines, close } = await setUp("sampled");
    const failures = (reason: string) => [{ service: "posts", replica: "a", reason }];
    for (let i = 0; i < 250; i++) {
      send({ outcome: "partial", codes: ["SUBGRAPH_TIMEOUT"], failures: failures("SUBGRAPH_TIMEOUT") });
      send({ outcome: "ok", failures: failures("SUBGRAPH_UNAVAILABLE"), operationName: "Feed" });
      send({ outcome: "rejected", codes: ["SERVICE_UNAVAILABLE"], status: 503, operationName: "Feed" });
      send({ outcome: "rejected", codes: ["SERVICE_UNAVAILABLE"], status: 503, operationName: `Operation${i}` });
    }
    close();
    const kinds = [
      { service: "posts", operation: "unnamed", status: 200, code: "SUBGRAPH_TIMEOUT" },
      { service: "posts", operation: "Feed", status: 200, code: "SUBGRAPH_UNAVAILABLE" },
      { operation: "Feed", status: 503, code: "SERVICE_UNAVAILABLE" },
      { operation: "other", status: 503, code: "SERVICE_UNAVAILABLE" },
    ];
    const counted = { observation: "failed-requests-counted", count: 249 };
    expect(lines).toMatchObject([...kinds, ...kinds.map((kind) => ({ ...kind, ...counted }))]);
  });

  test("a request that admission rejects has no line in the sampled access log, since admission counts it", async () => {
    const { send, lines, close } = await setUp("sampled");
    send({ outcome: "rejected", codes: ["OVERLOADED"], status: 503, operationName: "Feed" });
    send({ outcome: "rejected", codes: ["OVERLOADED"], operationName: "Feed" });
    close();
    expect(lines).toEqual([]);
  });

  test("there is no observer if metrics, traces and the access log are off", () => {
    const metrics = createNoMetrics<typeof metricsOf.gateway>();
    const about = { log: {} as Log, metrics, trace: noTrace, knownClients: [], knownOperations: [] };
    expect(createGatewayRequestObserver({ ...about, accessLog: "off" })).toBeUndefined();
    expect(createGatewayRequestObserver({ ...about, accessLog: "all" })).toBeDefined();
  });
});

describe("redacted paths", () => {
  test("a path contains field names and indexes, and no alias of a client or text of a subgraph", () => {
    const redact = createPathRedactor(buildSchema("type Query { books: [Book] } interface Book { title: String }"));
    expect(redact(["books", 3, "title"])).toBe("books.3.title");
    expect(redact(["_entities", 0, "my secret"])).toBe("_entities.0.*");
    expect(redact(["ada", "toString"])).toBe("*.*");
    expect(redact([])).toBe("");
  });
});
