import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { createSpanExport, type SpanExportOptions } from "./span-export.ts";
import { createTracing } from "./tracing.ts";

async function start(o: Pick<SpanExportOptions, "endpoint" | "onLost" | "file">) {
  const { deliver, flush, stop } = await createSpanExport({
    serviceName: "things",
    version: "1.2.3",
    instanceId: "i-7",
    ...o,
  });
  return { flush, trace: createTracing({ tracing: { sampler: "always_on", ratio: 1 }, deliver, stop }) };
}

test("recorded spans reach the collector at the latest when the process stops", async () => {
  const { url, requests } = await startCollector(200);
  const { trace } = await start({ endpoint: `${url}/`, onLost: () => expect.unreachable() });
  trace.begin("GET /things", undefined)?.end();
  await trace.stop();
  expect(requests.map(({ path, type }) => [path, type])).toEqual([["/v1/traces", "application/x-protobuf"]]);
  for (const text of [
    "GET /things",
    "service.name",
    "things",
    "service.version",
    "1.2.3",
    "service.instance.id",
    "i-7",
  ]) {
    expect(requests[0]?.body).toContain(text);
  }
});

test("the exporter reads its own variables", async () => {
  vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=7");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { url, requests } = await startCollector(200);
  const { trace } = await start({ endpoint: url, onLost: () => expect.unreachable() });
  trace.begin("GET /things", undefined)?.end();
  await trace.stop();
  expect(requests.map(({ tenant }) => tenant)).toEqual(["7"]);
});

test("losses are reported once, until a batch has arrived", async () => {
  const collector = await startCollector(400);
  const losses: Error[] = [];
  const { trace, flush } = await start({ endpoint: collector.url, onLost: (error) => losses.push(error) });
  const counts: number[] = [];
  for (const status of [400, 400, 200, 400]) {
    collector.answerWith(status);
    trace.begin("GET /things", undefined)?.end();
    await flush();
    counts.push(losses.length);
  }
  await trace.stop();
  expect(counts).toEqual([1, 1, 1, 2]);
});

test("a span's attributes arrive", async () => {
  const { url, requests } = await startCollector(200);
  const { trace } = await start({ endpoint: url, onLost: () => expect.unreachable() });
  const parent = trace.begin("GET /things", undefined, { attributes: { "http.route": "/things/{id}" } });
  const child = parent?.child("select things");
  child?.fail("57P03");
  child?.end();
  parent?.end();
  await trace.stop();
  const body = requests[0]?.body ?? "";
  const idOf = (hex: string | undefined) => Buffer.from(hex ?? "", "hex").toString("latin1");
  for (const text of ["/things/{id}", "select things", "error.type", "57P03", "tributary"])
    expect(body).toContain(text);
  // Of itself, and as its child's parent.
  expect(body.split(idOf(parent?.spanId)).length - 1).toBe(2);
  expect(body.split(idOf(parent?.traceId)).length - 1).toBe(2);
});

test("512 spans are sent at once, and spans that end after `stop` are dropped", async () => {
  const { url, requests } = await startCollector(200);
  const { trace, flush } = await start({ endpoint: url, onLost: () => expect.unreachable() });
  for (let n = 0; n < 512; n++) trace.begin("GET /things", undefined)?.end();
  await vi.waitFor(() => expect(requests).toHaveLength(1), { timeout: 4_000 });
  await trace.stop();
  trace.begin("GET /things", undefined)?.end();
  await flush();
  expect(requests).toHaveLength(1);
});

test("stopping waits for a batch to which the collector has not responded", async () => {
  const held = Promise.withResolvers<void>();
  const { url, requests } = await startCollector(200, held.promise);
  const lost: Error[] = [];
  const { trace } = await start({ endpoint: url, onLost: (error) => lost.push(error) });
  for (let n = 0; n < 512; n++) trace.begin("GET /things", undefined)?.end();
  await vi.waitFor(() => expect(requests).toHaveLength(1), { timeout: 4_000 });
  const stopped = trace.stop();
  setTimeout(held.resolve, 50);
  await stopped;
  expect(lost).toEqual([]);
});

test("a thread that has ended is replaced, and its loss reported", async () => {
  const code = `import { parentPort } from "node:worker_threads";
    parentPort.on("message", ({ batchNumber, spans }) => {
      if (spans[0].name === "the end") process.exit(3);
      parentPort.postMessage({ batchNumber });
    });
    parentPort.postMessage({ batchNumber: 0 });`;
  const losses: string[] = [];
  const file = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const onLost = (error: Error) => void losses.push(error.message);
  const { trace, flush } = await start({ endpoint: "http://127.0.0.1:9", onLost, file });
  const counts: number[] = [];
  for (const name of ["one", "the end", "another", "the end"]) {
    trace.begin(name, undefined)?.end();
    await flush();
    counts.push(losses.length);
  }
  await trace.stop();
  expect(counts).toEqual([0, 1, 1, 2]);
  expect(losses).toEqual(Array.from({ length: 2 }, () => "The thread that sends spans ended with code 3"));
});

/** Responds once `released` is resolved. */
async function startCollector(first: number, released: Promise<void> = Promise.resolve()) {
  let status = first;
  const requests: ReturnType<typeof describe>[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("latin1");
      requests.push(describe(request, body));
      void released.then(() => response.writeHead(status).end());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, requests, answerWith: (next: number) => void (status = next) };
}

function describe({ url: path, headers }: IncomingMessage, body: string) {
  return { path, type: headers["content-type"], tenant: headers["x-tenant"], body };
}
