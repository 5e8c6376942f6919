import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Log } from "@tributary/kit/process/log";
import { createNoMetrics, type Metrics } from "@tributary/kit/telemetry/metrics/metrics";
import { metricsOf } from "@tributary/kit/telemetry/metrics/metric-declarations";
import { createPrometheus } from "@tributary/kit/telemetry/metrics/prometheus";
import { noTrace } from "@tributary/kit/telemetry/tracing/trace";
import { Kind, type OperationDefinitionNode } from "graphql";
import { expect, test } from "vitest";
import { createGatewayRequestObserver } from "./request-observer.ts";
import type { RequestRecord } from "./request-record.ts";

type Asked = Partial<Pick<RequestRecord, "lane" | "requestedName" | "outcome" | "codes" | "traceId">> & {
  readonly client?: string;
  readonly status?: number;
  /** The name of an admitted operation. */
  readonly operationName?: string;
};

async function setUp(accessLog: "all" | "sampled" | "off" = "off", given?: Metrics<typeof metricsOf.gateway>) {
  const lines: unknown[] = [];
  const log = { info: (fields: unknown) => lines.push(fields) } as unknown as Log;
  const metrics = given ?? (await createPrometheus(metricsOf.gateway));
  const known = { knownClients: ["shop"], knownOperations: ["Feed"] };
  const observer = createGatewayRequestObserver({ log, metrics, trace: noTrace, accessLog, ...known });
  const ask = ({ client, status = 200, operationName, ...noted }: Asked) => {
    const headers = client === undefined ? {} : { "apollographql-client-name": client };
    const response = Object.assign(new EventEmitter(), { statusCode: status, writableFinished: true });
    const request = { method: "POST", headers } as unknown as IncomingMessage;
    const record = observer?.begin(request, response as unknown as ServerResponse, "r-1");
    const admitted = operationName === undefined ? undefined : admit(operationName);
    Object.assign(record ?? {}, { lane: "fast", outcome: "ok", admitted, ...noted });
    response.emit("close");
  };
  return { ask, lines, write: () => metrics.write() };
}

function admit(name: string): RequestRecord["admitted"] {
  const operation = { kind: Kind.OPERATION_DEFINITION, name: { value: name }, operation: "query" };
  return { operation: operation as OperationDefinitionNode, identity: { operationName: name, documentHash: "4f1a" } };
}

test("a thousand names of operations and clients are as many series as one", async () => {
  const { ask, write } = await setUp();
  ask({ client: "x", operationName: "x" });
  const seriesOf = async () =>
    (await write()).split("\n").filter((line) => line.startsWith("tributary_gateway")).length;
  const before = await seriesOf();
  for (let i = 0; i < 1_000; i++) ask({ client: `client-${i}`, operationName: `Operation${i}` });
  expect(await seriesOf()).toBe(before);
  expect(await write()).toContain('tributary_gateway_operations_total{operation="other",outcome="ok"} 1001');
});

test("known operations and clients are counted by themselves, and those without a name too", async () => {
  const { ask, write } = await setUp();
  ask({ client: "shop", operationName: "Feed" });
  ask({});
  const text = await write();
  for (const name of ["Feed", "unnamed"])
    expect(text).toContain(`tributary_gateway_operations_total{operation="${name}",outcome="ok"} 1`);
  for (const client of ["shop", "unnamed"])
    expect(text).toContain(`tributary_gateway_requests_total{lane="fast",client="${client}",status="200"} 1`);
});

test("an operation is counted by its own name after 100 admitted requests", async () => {
  const { ask, write } = await setUp();
  for (let i = 0; i < 100; i++) ask({ operationName: "Cart" });
  for (let i = 0; i < 200; i++) ask({ operationName: "Refused", outcome: "refused", codes: ["BAD_USER_INPUT"] });
  for (let i = 0; i < 200; i++) ask({ requestedName: "Invalid", outcome: "refused", codes: ["GRAPHQL_PARSE_FAILED"] });
  ask({ operationName: "Cart" });
  ask({ operationName: "Refused" });
  const text = await write();
  const labels = [...text.matchAll(/^tributary_gateway_operations_total\{operation="(\w+)",outcome="ok"\} (\d+)$/gm)];
  expect(labels.map(([, name, value]) => [name, value])).toEqual([
    ["other", "101"],
    ["Cart", "1"],
  ]);
});

test("a line of the access log names the admitted operation and its document", async () => {
  const { ask, lines } = await setUp("all");
  ask({ operationName: "Cart" });
  expect(lines).toMatchObject([{ operation: "other", operationName: "Cart", documentHash: "4f1a" }]);
});

test("what is refused is counted by its code, and what is not asked of /graphql by that alone", async () => {
  const { ask, write } = await setUp();
  ask({ lane: undefined, outcome: "refused", codes: ["NOT_FOUND"], status: 404 });
  const text = await write();
  expect(text).toContain('tributary_gateway_refused_total{code="NOT_FOUND"} 1');
  expect(text).not.toContain("tributary_gateway_requests_total{");
});

test("the sampled access log tells of what is our fault, and not of what is the client's", async () => {
  const { ask, lines } = await setUp("sampled");
  ask({});
  ask({ outcome: "refused", codes: ["GRAPHQL_VALIDATION_FAILED"] });
  ask({ outcome: "partial", codes: ["FORBIDDEN"] });
  ask({ outcome: "partial", codes: ["SUBGRAPH_TIMEOUT"], requestedName: "secret" });
  expect(lines).toMatchObject([{ requestId: "r-1", outcome: "partial", operation: "other", status: 200 }]);
  expect(JSON.stringify(lines)).not.toContain("secret");
});

test("what is our fault is written without metrics and traces too, and nothing else of the sampled log", async () => {
  const { ask, lines } = await setUp("sampled", createNoMetrics());
  ask({});
  ask({ outcome: "partial", codes: ["FORBIDDEN"] });
  ask({ outcome: "failed", codes: ["INTERNAL_SERVER_ERROR"], status: 500 });
  expect(lines).toMatchObject([{ requestId: "r-1", outcome: "failed", status: 500 }]);
});

test("a line of the access log names the trace, whether or not somebody records it", async () => {
  const { ask, lines } = await setUp("all");
  ask({ traceId: "0af7651916cd43dd8448eb211c80319c" });
  expect(lines).toMatchObject([{ trace_id: "0af7651916cd43dd8448eb211c80319c" }]);
});

test("where nobody asks for anything nothing is noted", () => {
  const metrics = createNoMetrics<typeof metricsOf.gateway>();
  const about = { log: {} as Log, metrics, trace: noTrace, knownClients: [], knownOperations: [] };
  expect(createGatewayRequestObserver({ ...about, accessLog: "off" })).toBeUndefined();
  expect(createGatewayRequestObserver({ ...about, accessLog: "all" })).toBeDefined();
});
