import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { startExportThread } from "./export-thread.ts";
import { createSpanExport, type SpanExportOptions } from "./span-export.ts";
import { createTracing } from "./tracing.ts";

async function start(o: Pick<SpanExportOptions, "endpoint" | "onLost" | "file">) {
  const { deliver, flush, stop } = await createSpanExport({
    serviceName: "things",
    version: "1.2.3",
    instanceId: "i-7",
    ...o,
  });
  return {
    flush,
    trace: createTracing({ tracing: { sampler: "always_on", ratio: 1, callers: "internal" }, deliver, stop }),
  };
}

test("spans with their attributes reach the collector at the latest when the process stops", async () => {
  vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=7");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { url, requests } = await startCollector(200);
  const { trace } = await start({ endpoint: `${url}/`, onLost: () => expect.unreachable() });
  const parent = trace.begin("GET /things", undefined, { attributes: { "http.route": "/things/{id}" } });
  const child = parent?.child("select things");
  child?.fail("57P03");
  child?.end();
  parent?.end();
  await trace.stop();
  expect(requests).toMatchObject([{ path: "/v1/traces", type: "application/x-protobuf", tenant: "7" }]);
  const body = requests[0]?.body ?? "";
  const resource = ["service.name", "things", "service.version", "1.2.3", "service.instance.id", "i-7"];
  const ofSpans = ["GET /things", "http.route", "/things/{id}", "select things", "error.type", "57P03", "tributary"];
  for (const text of [...resource, ...ofSpans]) expect(body).toContain(text);
  const idOf = (hex: string | undefined) => Buffer.from(hex ?? "", "hex").toString("latin1");
  // The parent's span id occurs in its own span and in its child's.
  expect(body.split(idOf(parent?.spanId)).length - 1).toBe(2);
  expect(body.split(idOf(parent?.traceId)).length - 1).toBe(2);
});

test("losses are reported once, until a batch has arrived", async () => {
  const collector = await startCollector(400);
  const losses: Error[] = [];
  const { trace, flush } = await start({ endpoint: collector.url, onLost: (error) => losses.push(error) });
  const counts: number[] = [];
  for (const status of [400, 400, 200, 400]) {
    collector.respondWith(status);
    trace.begin("GET /things", undefined)?.end();
    await flush();
    counts.push(losses.length);
  }
  await trace.stop();
  expect(counts).toEqual([1, 1, 1, 2]);
});

test("512 spans are sent at once; stopping waits for the collector's response, and later spans are dropped", async () => {
  const held = Promise.withResolvers<void>();
  const { url, requests } = await startCollector(200, held.promise);
  const lost: Error[] = [];
  const { trace, flush } = await start({ endpoint: url, onLost: (error) => lost.push(error) });
  for (let n = 0; n < 512; n++) trace.begin("GET /things", undefined)?.end();
  await expect.poll(() => requests).toHaveLength(1);
  const stopped = trace.stop();
  setTimeout(held.resolve, 50);
  await stopped;
  trace.begin("GET /things", undefined)?.end();
  await flush();
  expect([requests.length, lost]).toEqual([1, []]);
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
  return { url, requests, respondWith: (next: number) => void (status = next) };
}

function describe({ url: path, headers }: IncomingMessage, body: string) {
  return { path, type: headers["content-type"], tenant: headers["x-tenant"], body };
}

const noSpans = [] as const;
/** The code of a thread that reports itself as loaded; each test adds how it responds to batches. */
const loaded = `import { parentPort } from "node:worker_threads"; parentPort.postMessage({ batchNumber: 0 });`;

test("a module that cannot be loaded is an error at once", async () => {
  await expect(startThread(`throw new Error("no such module");`)).rejects.toThrow("no such module");
});

test("a seventh batch is rejected while the collector does not respond", async () => {
  const thread = await startThread(`${loaded} parentPort.on("message", () => {});`);
  const first = Array.from({ length: 6 }, () => thread.send(noSpans));
  await expect(thread.send(noSpans)).rejects.toThrow("6 batches");
  await thread.end();
  const outcomes = await Promise.allSettled(first);
  expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => "rejected"));
});

test("a thread that has ended accepts no batch", async () => {
  const thread = await startThread(`${loaded} parentPort.on("message", () => process.exit(3));`);
  await expect(thread.send(noSpans)).rejects.toThrow("code 3");
  expect(thread.hasEnded()).toBe(true);
  await expect(thread.send(noSpans)).rejects.toThrow("has ended");
});

async function startThread(code: string) {
  const thread = await startExportThread({
    url: "http://127.0.0.1:9",
    serviceName: "things",
    instanceId: "i-7",
    version: "1.2.3",
    file: toFile(code),
  });
  onTestFinished(() => thread.end());
  return thread;
}

function toFile(code: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}
