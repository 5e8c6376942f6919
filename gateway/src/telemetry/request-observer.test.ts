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
import type { GraphqlRequestRecord } from "./request-record.ts";

type SentRequest = Partial<Pick<GraphqlRequestRecord, "path" | "requestedName" | "outcome" | "codes" | "traceId">> & {
  readonly client?: string;
  readonly status?: number;
  /** Of a validated operation. */
  readonly operationName?: string;
};

async function setUp(accessLog: "all" | "sampled" | "off" = "off", given?: Metrics<typeof metricsOf.gateway>) {
  const lines: unknown[] = [];
  const log = { info: (fields: unknown) => lines.push(fields) } as unknown as Log;
  const metrics = given ?? (await createPrometheus(metricsOf.gateway));
  const known = { knownClients: ["shop"], knownOperations: ["Feed"] };
  const observer = createGatewayRequestObserver({ log, metrics, trace: noTrace, accessLog, ...known });
  const send = ({ client, status = 200, operationName, ...recorded }: SentRequest) => {
    const headers = client === undefined ? {} : { "apollographql-client-name": client };
    const response = Object.assign(new EventEmitter(), { statusCode: status, writableFinished: true });
    const request = { method: "POST", headers } as unknown as IncomingMessage;
    const record = observer?.begin(request, response as unknown as ServerResponse, "r-1");
    const validated = operationName === undefined ? undefined : validate(operationName);
    Object.assign(record ?? {}, { path: "fast", outcome: "ok", validated, ...recorded });
    response.emit("close");
  };
  return { send, lines, write: () => metrics.write() };
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

test("a rejection is counted by its code, and for URLs other than /graphql nothing else is counted", async () => {
  const { send, write } = await setUp();
  send({ path: undefined, outcome: "rejected", codes: ["NOT_FOUND"], status: 404 });
  const text = await write();
  expect(text).toContain('tributary_gateway_rejected_total{code="NOT_FOUND"} 1');
  expect(text).not.toContain("tributary_gateway_requests_total{");
});

test("the sampled access log contains failures of the platform, and no errors of the client", async () => {
  const { send, lines } = await setUp("sampled");
  send({});
  send({ outcome: "rejected", codes: ["GRAPHQL_VALIDATION_FAILED"] });
  send({ outcome: "partial", codes: ["FORBIDDEN"] });
  send({ outcome: "partial", codes: ["SUBGRAPH_TIMEOUT"], requestedName: "secret" });
  expect(lines).toMatchObject([{ requestId: "r-1", outcome: "partial", operation: "other", status: 200 }]);
  expect(JSON.stringify(lines)).not.toContain("secret");
});

test("without metrics and traces the sampled access log contains the same failures", async () => {
  const { send, lines } = await setUp("sampled", createNoMetrics());
  send({});
  send({ outcome: "partial", codes: ["FORBIDDEN"] });
  send({ outcome: "failed", codes: ["INTERNAL_SERVER_ERROR"], status: 500 });
  expect(lines).toMatchObject([{ requestId: "r-1", outcome: "failed", status: 500 }]);
});

test("a line of the access log contains the trace id even if the trace is not recorded", async () => {
  const { send, lines } = await setUp("all");
  send({ traceId: "0af7651916cd43dd8448eb211c80319c" });
  expect(lines).toMatchObject([{ trace_id: "0af7651916cd43dd8448eb211c80319c" }]);
});

test("there is no observer if metrics, traces and the access log are off", () => {
  const metrics = createNoMetrics<typeof metricsOf.gateway>();
  const about = { log: {} as Log, metrics, trace: noTrace, knownClients: [], knownOperations: [] };
  expect(createGatewayRequestObserver({ ...about, accessLog: "off" })).toBeUndefined();
  expect(createGatewayRequestObserver({ ...about, accessLog: "all" })).toBeDefined();
});
